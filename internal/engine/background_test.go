package engine

import (
	"runtime"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// drowse makes calls until the background loop has put off its next poll, for ever as far as a test
// is concerned. If this goroutine does not run for a tick the loop finds no call and leads, with no
// poll to put off: then the loop has to let go first, as for a call that waits.
func drowse(w *Comm) {
	p := w.p
	for {
		p.mu.Lock()
		p.calls++
		drowsy, away := p.loop.drowsy, p.leads.who == inBackground
		p.mu.Unlock()
		if drowsy {
			return
		}
		p.leads.wanted.Add(1)
		if away {
			p.node.Notify(p.me, park.Background)
		}
		runtime.Gosched()
		p.leads.wanted.Add(-1)
	}
}

// TestDrowsyLoopHurries: after calls with nothing beside them the background loop of a crowded rank
// polls seldom. A receive, or a call that agrees, that is started then and that the program does
// not wait for is nevertheless served a tick later, while the program computes.
func TestDrowsyLoopHurries(t *testing.T) {
	starts := map[string]func(w *Comm) (Handle, error){
		"receive": func(w *Comm) (Handle, error) {
			return w.Irecv(Envelope{Rank: 1}, make([]byte, 1))
		},
		"agreement": func(w *Comm) (Handle, error) {
			flag := uint64(1)
			return w.StartAgree(&flag)
		},
		"shrink": func(w *Comm) (Handle, error) {
			return w.Start(commstate.Call{Kind: commstate.KindShrink}, Contribution{}, "ishrink")
		},
	}
	for what, start := range starts {
		t.Run(what, func(t *testing.T) {
			world := inproc.New(2)
			procs := [2]*Proc{}
			for me := range procs {
				procs[me] = New(world.Port(me), Config{SpinPolls: 20, Tick: time.Millisecond, Crowd: 1 << 30, Messages: true})
			}
			w, other := procs[0].World(), procs[1].World()
			drowse(w)
			h, err := start(w)
			if err != nil {
				t.Fatal(err)
			}
			switch what { // one that waits for the other side
			case "receive":
				err = other.Send(bg, Envelope{Rank: 0, Sync: true}, []byte{1})
			case "shrink":
				_, _, err = other.Call(bg, commstate.Call{Kind: commstate.KindShrink}, Contribution{}, "shrink")
			default:
				_, _, err = other.Call(bg, commstate.Call{Kind: commstate.KindAgree}, Contribution{Flag: 1}, "agree")
			}
			if err != nil {
				t.Error(err)
			}
			if _, err := procs[0].Wait(bg, h); err != nil {
				t.Error(err)
			}
			for _, p := range procs {
				p.Close()
			}
		})
	}
}
