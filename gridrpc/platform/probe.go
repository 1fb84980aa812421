package platform

import (
	"context"
	"os"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Times of probes. A stopped master is noticed within silentMax * silentTick + probeEach, 1.7 s.
const (
	probeEach  = 100 * time.Millisecond // from an answer to the next probe
	silentTick = 400 * time.Millisecond
	silentMax  = 4 // ticks without an answer
)

// probeMaster probes the only master of the platform until ctx is done. No other process can
// replace a master that is stopped or hangs: this function kills the master, and a new one starts
// as after any other death.
//
// Silence is counted in ticks, not in time: "gridrpc up" may have been stopped itself. When it
// continues, at most two ticks have passed, and the answer is there.
func (p *platform) probeMaster(ctx context.Context, name string, master *os.Process) {
	answers := make(chan struct{})
	go p.probe(ctx, name, answers)
	tick := time.NewTicker(silentTick)
	defer tick.Stop()
	for silent := 0; silent < silentMax; {
		select {
		case <-ctx.Done():
			return
		case <-answers:
			silent = 0
		case <-tick.C:
			silent++
		}
	}
	const silence = silentMax * silentTick
	if !p.restarts {
		p.say("%s has answered no probe for %v: is it stopped? It is the only master: --masters 3 starts three, of which one may be lost", name, silence)
		return
	}
	p.say("%s has answered no probe for %v: it is killed, and started anew", name, silence)
	_ = master.Kill() // fails if the master has ended meanwhile
}

// probe probes an agent of this machine again and again until ctx is done, and reports each
// answer. A refused connection and a missing address count as answers: the agent does not listen
// yet.
func (p *platform) probe(ctx context.Context, name string, answers chan<- struct{}) {
	for ctx.Err() == nil {
		p.probeOnce(ctx, name, answers)
		pause(ctx, probeEach)
	}
}

// probeOnce probes by one connection until a probe fails.
func (p *platform) probeOnce(ctx context.Context, name string, answers chan<- struct{}) {
	id, err := link.Load(p.dir, discovery.ClientName)
	if err != nil {
		return
	}
	addr := discovery.Address(p.dir, name)
	conn, err := id.Dial(addr) // made by the first probe
	if err != nil {
		return
	}
	defer link.HangUp(conn)
	for {
		_, err := pb.NewNodeClient(conn).Probe(ctx, &pb.ProbeRequest{})
		if err == nil || addr == "" || link.Look(ctx, addr) == link.Refuses {
			select {
			case answers <- struct{}{}:
			case <-ctx.Done():
			}
		}
		if err != nil || !pause(ctx, probeEach) {
			return
		}
	}
}

// pause waits, and reports whether ctx is not done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
