package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// cluster runs body on n goroutine ranks and waits for all.
type cluster struct {
	world *inproc.World
	procs []*Proc
}

func run(t *testing.T, n int, body func(c *cluster, w *Comm) error) {
	t.Helper()
	c := &cluster{world: inproc.New(n)}
	for me := range n {
		c.procs = append(c.procs, New(c.world.Port(me), Config{SpinPolls: 20}))
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for me := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[me] = body(c, c.procs[me].World())
		}()
	}
	wg.Wait()
	for me, err := range errs {
		if err != nil {
			t.Errorf("process %d: %v", me, err)
		}
	}
	for _, p := range c.procs {
		p.Close()
	}
}

func (c *cluster) kill(w *Comm) {
	w.Proc().Kill()
	c.world.Depart(w.Proc().Me(), true)
}

var bg = context.Background()

func TestSendRecvEveryLength(t *testing.T) {
	sizes := []int{0, 1, 39, 40, 41, 4096, 16 << 10, 16<<10 + 1, 100_000, 1 << 20}
	run(t, 2, func(_ *cluster, w *Comm) error {
		for i, size := range sizes {
			buf := make([]byte, size)
			if w.Rank() == 0 {
				for k := range buf {
					buf[k] = byte(k*7 + i)
				}
				if err := w.Send(bg, Envelope{Rank: 1, Tag: i}, buf); err != nil {
					return err
				}
				continue
			}
			st, err := w.Recv(bg, Envelope{Rank: 0, Tag: i}, buf)
			if err != nil || st.Bytes != size || st.Tag != i || st.Proc != 0 {
				return fmt.Errorf("size %d: %+v, %v", size, st, err)
			}
			for k := range buf {
				if buf[k] != byte(k*7+i) {
					return fmt.Errorf("size %d: byte %d is %d", size, k, buf[k])
				}
			}
		}
		return nil
	})
}

// TestRandomTraffic sends messages of random lengths between all pairs, blocking
// and not, with wildcards, and checks order and content.
func TestRandomTraffic(t *testing.T) {
	const n, rounds = 5, 60
	run(t, n, func(_ *cluster, w *Comm) error {
		me := w.Rank()
		length := func(from, to, k int) int {
			r := rand.New(rand.NewPCG(uint64(from*100+to), uint64(k)))
			return []int{r.IntN(60), r.IntN(5000), r.IntN(60000)}[r.IntN(3)]
		}
		fill := func(from, to, k int) []byte {
			return bytes.Repeat([]byte{byte(from), byte(to), byte(k)}, length(from, to, k)/3)
		}
		var sends []Handle
		for k := range rounds {
			for to := range n {
				h, err := w.Isend(Envelope{Rank: to, Tag: k % 3, Sync: k%7 == 0}, fill(me, to, k))
				if err != nil {
					return err
				}
				sends = append(sends, h)
			}
		}
		next := make([]int, n)
		buf := make([]byte, 60000)
		for range rounds * n {
			st, err := w.Recv(bg, Envelope{Rank: Any, Tag: Any}, buf)
			if err != nil {
				return err
			}
			k := next[st.Proc]
			next[st.Proc]++
			if want := fill(st.Proc, me, k); st.Tag != k%3 || !bytes.Equal(buf[:st.Bytes], want) {
				return fmt.Errorf("message %d from %d: tag %d, %d bytes, want %d", k, st.Proc, st.Tag, st.Bytes, len(want))
			}
		}
		over := 0
		errs, err := w.Proc().WaitAll(bg, sends, func(i int, _ Status) {
			if i != over {
				t.Errorf("send %d of %d is over, after %d others", i, len(sends), over)
			}
			over++
		})
		if err == nil && (over != len(sends) || errs != nil) {
			err = fmt.Errorf("%d of %d sends are over: %v", over, len(sends), errs)
		}
		return err
	})
}

func TestManyGoroutinesOfOneRank(t *testing.T) {
	const g, rounds = 8, 50
	run(t, 2, func(_ *cluster, w *Comm) error {
		errs := make(chan error, g)
		for tag := range g {
			go func() {
				buf := []byte{0}
				for k := range rounds {
					var err error
					if w.Rank() == tag%2 {
						err = w.Send(bg, Envelope{Rank: 1 - w.Rank(), Tag: tag}, []byte{byte(k)})
					} else if _, err = w.Recv(bg, Envelope{Rank: 1 - w.Rank(), Tag: tag}, buf); err == nil && buf[0] != byte(k) {
						err = fmt.Errorf("got %d, want %d", buf[0], k)
					}
					if err != nil {
						errs <- err
						return
					}
				}
				errs <- nil
			}()
		}
		for range g {
			if err := <-errs; err != nil {
				return err
			}
		}
		return nil
	})
}

// TestKillRevokeAgreeShrink is the main job in small: a rank dies, the rank that waits for it
// detects that and revokes, and all agree, shrink and continue.
func TestKillRevokeAgreeShrink(t *testing.T) {
	for _, n := range []int{2, 3, 4, 8} {
		run(t, n, func(c *cluster, w *Comm) error {
			victim := n - 1
			if w.Rank() == victim {
				c.kill(w)
				return nil
			}
			buf := make([]byte, 8)
			_, err := w.Recv(bg, Envelope{Rank: (w.Rank() + 1) % n, Tag: 1}, buf) // nobody sends
			if !ulfm.Recoverable(err) {
				return fmt.Errorf("receive: %w", err)
			}
			if err := w.Revoke(); err != nil {
				return err
			}
			out, _, err := w.Call(bg, commstate.Call{Kind: commstate.KindAgree}, Contribution{Flag: ^uint64(0) &^ (1 << w.Rank())}, "agree")
			if !errors.Is(err, ulfm.ErrProcFailed) || out.Flag != ^uint64(0)<<(n-1) {
				return fmt.Errorf("agree: flag %x, %v", out.Flag, err)
			}
			if got := w.GetFailed(); len(got) != 1 || got[0] != victim {
				return fmt.Errorf("failed %v", got)
			}
			_, s, err := w.Call(bg, commstate.Call{Kind: commstate.KindShrink}, Contribution{}, "shrink")
			if err != nil || s.Size() != n-1 || s.Rank() != w.Rank() {
				return fmt.Errorf("shrink: %v", err)
			}
			next, prev := (s.Rank()+1)%s.Size(), (s.Rank()+s.Size()-1)%s.Size()
			if err := s.Send(bg, Envelope{Rank: next, Tag: 2}, []byte{byte(s.Rank())}); err != nil {
				return err
			}
			if _, err := s.Recv(bg, Envelope{Rank: prev, Tag: 2}, buf); err != nil || buf[0] != byte(prev) {
				return fmt.Errorf("ring after the shrink: %v, %d", err, buf[0])
			}
			return w.Proc().Finalize(bg)
		})
	}
}

func TestCancelledReceiveIsWithdrawn(t *testing.T) {
	run(t, 2, func(_ *cluster, w *Comm) error {
		if w.Rank() == 1 {
			buf := make([]byte, 1)
			_, err := w.Recv(bg, Envelope{Rank: 0, Tag: 3}, buf)
			return err
		}
		ctx, cancel := context.WithCancel(bg)
		done := make(chan error)
		go func() {
			_, err := w.Recv(ctx, Envelope{Rank: 1, Tag: 1}, make([]byte, 1))
			done <- err
		}()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			return fmt.Errorf("cancelled receive: %w", err)
		}
		big := make([]byte, 1<<20)
		ctx, cancel = context.WithCancel(bg)
		go func() { done <- w.Send(ctx, Envelope{Rank: 1, Tag: 9}, big) }()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			return fmt.Errorf("cancelled send: %w", err)
		}
		return w.Send(bg, Envelope{Rank: 1, Tag: 3}, []byte{1})
	})
}

// TestBackgroundLoopServesPeers has rank 1 make no call at all while rank 0 needs
// it: to grant a large message, and to pass on an agreement.
func TestBackgroundLoopServesPeers(t *testing.T) {
	released := make(chan struct{})
	run(t, 3, func(_ *cluster, w *Comm) error {
		big := make([]byte, 1<<20)
		switch w.Rank() {
		case 1:
			h, err := w.Irecv(Envelope{Rank: 0, Tag: 1}, big)
			if err != nil {
				return err
			}
			flag := uint64(6)
			a, err := w.StartAgree(&flag)
			if err != nil {
				return err
			}
			<-released // computes: no call
			if _, err := w.Proc().Wait(bg, a); err != nil || flag != 2 {
				return fmt.Errorf("agree: %d, %w", flag, err)
			}
			_, err = w.Proc().Wait(bg, h)
			return err
		case 0:
			if err := w.Send(bg, Envelope{Rank: 1, Tag: 1}, big); err != nil {
				return err
			}
		}
		out, _, err := w.Call(bg, commstate.Call{Kind: commstate.KindAgree}, Contribution{Flag: 3}, "agree")
		if err != nil || out.Flag != 2 {
			return fmt.Errorf("agree: %d, %w", out.Flag, err)
		}
		if w.Rank() == 0 {
			close(released)
		}
		return nil
	})
}

// TestDroppedSendKeepsItsContent gives up the handle of a large send and then writes over its
// buffer: the original content arrives.
func TestDroppedSendKeepsItsContent(t *testing.T) {
	run(t, 2, func(_ *cluster, w *Comm) error {
		big := bytes.Repeat([]byte{5}, 1<<18)
		if w.Rank() == 1 {
			if _, err := w.Recv(bg, Envelope{Rank: 0, Tag: 2}, big[:1]); err != nil { // after the overwriting
				return err
			}
			clear(big)
			_, err := w.Recv(bg, Envelope{Rank: 0, Tag: 1}, big)
			if err == nil && !bytes.Equal(big, bytes.Repeat([]byte{5}, 1<<18)) {
				err = errors.New("another content arrived")
			}
			return err
		}
		h, err := w.Isend(Envelope{Rank: 1, Tag: 1}, big)
		if err != nil {
			return err
		}
		w.Proc().Drop(h)
		clear(big)
		return w.Send(bg, Envelope{Rank: 1, Tag: 2}, big[:1])
	})
}

func TestNothingAllocatedPerSmallMessage(t *testing.T) {
	w := inproc.New(2)
	a, b := New(w.Port(0), Config{}), New(w.Port(1), Config{})
	defer a.Close()
	defer b.Close()
	for _, size := range []int{8, 4096} {
		out, in := make([]byte, size), make([]byte, size)
		per := testing.AllocsPerRun(1000, func() {
			if err := a.World().Send(bg, Envelope{Rank: 1}, out); err != nil {
				t.Fatal(err)
			}
			if _, err := b.World().Recv(bg, Envelope{Rank: 0}, in); err != nil {
				t.Fatal(err)
			}
		})
		if per != 0 {
			t.Errorf("%d bytes: %v allocations per message", size, per)
		}
	}
}

func BenchmarkSendRecvSameThread(b *testing.B) {
	w := inproc.New(2)
	x, y := New(w.Port(0), Config{}), New(w.Port(1), Config{})
	defer x.Close()
	defer y.Close()
	buf := make([]byte, 8)
	b.ReportAllocs()
	for b.Loop() {
		_ = x.World().Send(bg, Envelope{Rank: 1}, buf)
		_, _ = y.World().Recv(bg, Envelope{Rank: 0}, buf)
	}
}

// TestNothingAllocatedByAWait has two ranks play ping-pong, so that both wait in
// every receive.
func TestNothingAllocatedByAWait(t *testing.T) {
	const rounds = 2000
	run(t, 2, func(_ *cluster, w *Comm) error {
		buf, peer := make([]byte, 8), Envelope{Rank: 1 - w.Rank()}
		var before, after runtime.MemStats
		if w.Rank() == 0 {
			runtime.ReadMemStats(&before)
		}
		for range rounds {
			if w.Rank() == 0 {
				if err := w.Send(bg, peer, buf); err != nil {
					return err
				}
			}
			if _, err := w.Recv(bg, peer, buf); err != nil {
				return err
			}
			if w.Rank() == 1 {
				if err := w.Send(bg, peer, buf); err != nil {
					return err
				}
			}
		}
		if w.Rank() == 0 {
			runtime.ReadMemStats(&after)
			// Goroutine ranks sleep on channels, one made per sleep; the wait itself
			// makes nothing.
			if per := float64(after.Mallocs-before.Mallocs) / rounds; per > 6 {
				return fmt.Errorf("%.1f allocations per round trip", per)
			}
		}
		return nil
	})
}

// TestNoMessageFromOutside: a process that is no member of a communicator, but names its context,
// is ignored, whether the communicator is there already or pending.
func TestNoMessageFromOutside(t *testing.T) {
	const index = 1 // the first index that every process draws
	run(t, 3, func(_ *cluster, w *Comm) error {
		color := 0
		if w.Rank() == 2 {
			color = 1
			frame := transport.Header{Kind: transport.Eager, Ctx: dataContext(index, PointToPoint), Tag: 5, Size: 1}
			p := w.Proc()
			p.mu.Lock() // before and after the others have the communicator
			p.trySend(0, &frame, []byte{1})
			p.mu.Unlock()
		}
		_, half, err := w.Call(bg, commstate.Call{Kind: commstate.KindSplit}, Contribution{Color: color}, "split")
		if err != nil {
			return err
		}
		if w.Rank() == 2 {
			p := w.Proc()
			p.mu.Lock()
			p.trySend(0, &transport.Header{Kind: transport.Eager, Ctx: dataContext(index, PointToPoint), Tag: 5, Size: 1}, []byte{1})
			p.mu.Unlock()
			return w.Send(bg, Envelope{Rank: 1, Tag: 1}, nil)
		}
		if w.Rank() == 1 {
			if _, err := w.Recv(bg, Envelope{Rank: 2, Tag: 1}, nil); err != nil {
				return err
			}
			return half.Send(bg, Envelope{Rank: 0, Tag: 5}, []byte{9})
		}
		buf := []byte{0}
		st, err := half.Recv(bg, Envelope{Rank: Any, Tag: 5}, buf)
		if err == nil && (st.Proc != 1 || buf[0] != 9) {
			err = fmt.Errorf("got %d from process %d", buf[0], st.Proc)
		}
		return err
	})
}
