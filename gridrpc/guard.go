package gridrpc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/fd/beat"
	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/internal/base/fifo"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
)

// guards observe the servers that run calls of a client.
type guards struct {
	pulse *heartbeat.Pulse
	asked adaptive.QoS
	news  *fifo.Box[guardNews]

	mu     sync.Mutex
	all    []*guard    // in the order of their servers: a map would take three times its memory
	sweep  *time.Timer // runs while a guard is idle
	sweeps bool
}

// guard is one observed server. There may be thousands, so it has no timer and no goroutine of its
// own.
type guard struct {
	watch   *heartbeat.Watch
	flights []*flight     // the calls at this server
	idle    time.Duration // start of the time without calls, from guardOrigin
}

// server returns the observed server.
func (one *guard) server() session.Server {
	name, incarnation := one.watch.Peer()
	return session.Server{Name: name, Incarnation: incarnation}
}

// find returns the position of a server's guard, and whether there is one. The caller holds mu.
func (g *guards) find(s session.Server) (int, bool) {
	return slices.BinarySearchFunc(g.all, s, func(one *guard, s session.Server) int {
		is := one.server()
		return cmp.Or(cmp.Compare(is.Incarnation, s.Incarnation), strings.Compare(is.Name, s.Name))
	})
}

// guardNews is an event of the observation of a server.
type guardNews struct {
	of *guard
	beat.Event
}

// Times of guards. Most calls are over before the observation of their server begins.
const (
	guardAfter = 50 * time.Millisecond
	guardIdle  = 30 * time.Second // a server without a call of this client
)

// quality returns the requested quality of the detection of servers. guardAfter is a part of its
// time.
func quality(detection time.Duration) adaptive.QoS {
	q := adaptive.QoS{Detection: adaptive.Duration(detection)}.WithDefaults()
	q.Detection -= adaptive.Duration(guardAfter)
	return q
}

// checkQuality returns an error that names the requested time if no server can be observed so.
func checkQuality(q adaptive.QoS) error {
	if asked, least := time.Duration(q.Detection)+guardAfter, time.Duration(adaptive.DetectionMin)+guardAfter; asked < least {
		return fmt.Errorf("Detect(%v): want at least %v", asked, least)
	}
	return q.Check()
}

// begin starts the delivery of news in order, by a goroutine that exists only while there are news.
func (g *guards) begin() {
	g.news = fifo.New(func(list []guardNews) error {
		for _, n := range list {
			g.tell(n.of, n.Event)
		}
		return nil
	})
	g.sweep = time.AfterFunc(guardIdle, g.dropIdle)
	g.sweep.Stop()
}

// add reports events of the server that runs a call to its flight.
func (g *guards) add(f *flight, ref *pb.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, known := g.find(serverOf(ref))
	if !known {
		one := &guard{}
		w, err := g.pulse.Watch(ref, g.asked, func(n beat.Event) { g.news.Post(guardNews{one, n}) })
		if err != nil { // too many, or the client is closed: only broken connections are evidence then
			return
		}
		one.watch = w
		g.all = slices.Insert(g.all, at, one)
	}
	one := g.all[at]
	if !slices.Contains(one.flights, f) {
		one.flights = append(one.flights, f)
	}
}

// remove ends the effect of add for all servers of a flight.
func (g *guards) remove(f *flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.all {
		i := slices.Index(one.flights, f)
		if i < 0 {
			continue
		}
		if one.flights = slices.Delete(one.flights, i, i+1); len(one.flights) > 0 {
			continue
		}
		one.flights, one.idle = nil, time.Since(guardOrigin)
		if !g.sweeps {
			g.sweeps = true
			g.sweep.Reset(guardIdle)
		}
	}
}

// guardOrigin is the origin of the times of guards.
var guardOrigin = time.Now()

// dropIdle ends the observation of servers that have run no call of this client for guardIdle.
func (g *guards) dropIdle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, next := time.Since(guardOrigin), time.Duration(0)
	g.all = slices.DeleteFunc(g.all, func(one *guard) bool {
		left := guardIdle - (now - one.idle)
		switch {
		case len(one.flights) > 0:
		case left <= 0:
			one.watch.End()
			return true
		case next == 0 || left < next:
			next = left
		}
		return false
	})
	if g.sweeps = next > 0; g.sweeps {
		g.sweep.Reset(next)
	}
}

// tell passes news on to all flights.
func (g *guards) tell(one *guard, n beat.Event) {
	g.mu.Lock()
	flights := slices.Clone(one.flights)
	server := one.server()
	if at, known := g.find(server); n.Kind == beat.Dead && known && g.all[at] == one {
		g.all = slices.Delete(g.all, at, at+1)
	}
	g.mu.Unlock()
	if pausepoint.Enabled {
		pausepoint.At("grid.guard")
	}
	for _, f := range flights {
		f.hearOf(server, n)
	}
}

// hearOf handles news of a server that runs this call or has run it.
func (f *flight) hearOf(server session.Server, n beat.Event) {
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
