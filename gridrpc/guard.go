package gridrpc

import (
	"sync"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/pulse"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/internal/beat"
	"github.com/goulfm/goulfm/internal/postbox"
)

// guards observe the servers that run calls of a client.
type guards struct {
	pulse *pulse.Pulse
	asked adaptive.QoS

	mu  sync.Mutex
	all map[session.Server]*guard
}

// guard is one observed server.
type guard struct {
	server  session.Server
	watch   *pulse.Watch
	flights map[*flight]bool // that it runs a call of
	idle    *time.Timer      // runs while there are none
}

// Times of guards. Most calls are over before their server has to be observed.
const (
	guardAfter = 50 * time.Millisecond
	guardIdle  = 30 * time.Second // a server without a call of this client
)

// quality is what a client asks of the detection of servers: guardAfter is a part of its time.
func quality(detection time.Duration) adaptive.QoS {
	q := adaptive.QoS{Detection: adaptive.Duration(detection)}.WithDefaults()
	q.Detection = max(adaptive.DetectionMin, q.Detection-adaptive.Duration(guardAfter))
	return q
}

// add has a flight told what becomes of the server that runs its call.
func (g *guards) add(f *flight, ref *pb.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	server := serverOf(ref)
	one := g.all[server]
	if one == nil {
		one = &guard{server: server, flights: map[*flight]bool{}}
		news := postbox.New(func(list []beat.News) error {
			for _, n := range list {
				g.tell(one, n)
			}
			return nil
		})
		w, err := g.pulse.Watch(ref, g.asked, news.Post)
		if err != nil { // too many, or the client is closed: broken connections are evidence still
			return
		}
		one.watch = w
		one.idle = time.AfterFunc(guardIdle, func() { g.dropIdle(one) })
		g.all[server] = one
	}
	one.idle.Stop()
	one.flights[f] = true
}

// remove ends what add has begun, for all servers of a flight.
func (g *guards) remove(f *flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.all {
		if one.flights[f] {
			delete(one.flights, f)
			if len(one.flights) == 0 {
				one.idle.Reset(guardIdle)
			}
		}
	}
}

func (g *guards) dropIdle(one *guard) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(one.flights) == 0 && g.all[one.server] == one {
		delete(g.all, one.server)
		one.watch.End()
	}
}

// tell passes news on to all flights.
func (g *guards) tell(one *guard, n beat.News) {
	g.mu.Lock()
	var flights []*flight
	for f := range one.flights {
		flights = append(flights, f)
	}
	if n.Kind == beat.Dead {
		delete(g.all, one.server)
		one.idle.Stop()
	}
	g.mu.Unlock()
	for _, f := range flights {
		f.hearOf(one.server, n)
	}
}

// hearOf takes news of a server that runs this call, or has run it.
func (f *flight) hearOf(server session.Server, n beat.News) {
	switch n.Kind {
	case beat.Suspected:
		f.post(nil, func() { f.tellOf(server, Suspected, silence(n.Silent)) })
	case beat.Trusted:
		f.post(nil, func() { f.tellOf(server, Trusted, "") })
	case beat.Dead:
		why := "it is silent"
		if n.Evidence == adaptive.ByRefusal {
			why = "its machine refuses connections"
		}
		f.post(session.Declared{At: f.now(), Server: server}, func() {
			f.client.forsake(f.refs[server].GetAddr())
			f.lose(server, why)
		})
	}
}

func silence(d time.Duration) string {
	if d == 0 {
		return "its connection broke"
	}
	return "silent for " + d.Round(time.Millisecond).String()
}
