//go:build failpoints

package transporttest_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/goulfm/goulfm/internal/base/failpoint"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// The ranks of the kill tests.
const (
	receiver = iota
	victim
	bystander
	ranks
)

// TestKillSender ends the victim before its k-th store to shared memory, for every k, while the
// victim performs each operation on its peers once. After each prefix of the stores, the receiver
// reads only whole frames: all frames whose sending was over, and none that was not begun. A second
// sender to the same receiver does not notice the death.
func TestKillSender(t *testing.T) {
	all := newKillRun(t, 0)
	all.play(t)
	if all.stores < 500 {
		t.Fatalf("the script makes %d stores only", all.stores)
	}
	t.Logf("%d places to die", all.stores)
	for k := 1; k <= all.stores; k++ {
		r := newKillRun(t, k)
		r.play(t)
		if r.stores != k {
			t.Fatalf("killed before store %d, and %d were begun", k, r.stores)
		}
	}
}

// TestPollBetweenStores makes the receiver poll before the victim's k-th store, for every k, and
// after each frame, always only the processes that Take names. A frame whose bit is set too early
// is lost:
//
//	victim: sets its bit
//	receiver: takes the bit, polls, finds nothing
//	victim: publishes the frame
func TestPollBetweenStores(t *testing.T) {
	all := newKillRun(t, 0)
	all.play(t)
	for k := 1; k <= all.stores; k++ {
		r := newKillRun(t, k)
		r.look = true
		r.play(t)
		if r.stores < all.stores { // a bit that was taken is set again
			t.Fatalf("k = %d: %d stores, %d without a poll", k, r.stores, all.stores)
		}
	}
}

// A killRun is one world in which the victim dies before its k-th store, or never if k is 0.
type killRun struct {
	k, stores int
	look      bool  // the victim does not die: the receiver polls, then and after each frame
	err       error // of that poll
	armed     bool  // the victim is running, not a peer for which it waits
	world     *inproc.World
	ports     [ranks]*transport.Port
	data      [ranks]tally
	control   [ranks]tally
}

// A tally counts the frames to the receiver from one rank and class: begun and over by the sender,
// read by the receiver.
type tally struct{ begun, over, read int }

func newKillRun(t *testing.T, k int) *killRun {
	t.Helper()
	r := &killRun{k: k, world: inproc.New(ranks)}
	for rank := range ranks {
		r.ports[rank] = r.world.Port(rank).Link.(*transport.Port)
	}
	return r
}

func (r *killRun) play(t *testing.T) {
	t.Helper()
	if err := r.bystanding(30); err != nil {
		t.Fatalf("k = %d, before: %v", r.k, err)
	}
	failpoint.On(r.beforeStore)
	end := make(chan error)
	go func() {
		defer close(end) // after runtime.Goexit, too
		if err := r.script(); err != nil {
			end <- err
		}
	}()
	err := <-end
	<-end // closed: the victim makes no further store
	failpoint.On(nil)
	if err == nil {
		err = errors.Join(r.err, r.aftermath())
	}
	if err != nil {
		t.Fatalf("k = %d: %v", r.k, err)
	}
}

func (r *killRun) beforeStore(uint64) {
	if !r.armed {
		return
	}
	r.stores++
	switch {
	case r.stores != r.k:
	case r.look:
		r.err = r.asPeer(func() error { return r.read(false) })
	default:
		runtime.Goexit()
	}
}

// script is the part of the victim: it opens each ring, sends each kind of frame, waits for room,
// fills its rings more than once, takes frames, returns credit, and leaves.
func (r *killRun) script() error {
	p := r.ports[victim]
	h, payload := killFrame(bystander, 0)
	r.ports[bystander].TrySend(victim, &h, payload)
	r.armed = true
	defer func() { r.armed = false }()
	for round := range 4 {
		if err := r.send(victim, 22); err != nil {
			return err
		}
		p.WantRoom(receiver, true)
		if err := r.asPeer(func() error { return r.read(false) }); err != nil {
			return err
		}
		p.WantRoom(receiver, false)
		p.Node().Notify(receiver, park.Caller)
		r.takeOne(p, round)
	}
	p.Node().SetLeft()
	p.Node().MoveEpoch()
	return nil
}

// takeOne makes the victim a receiver, too.
func (r *killRun) takeOne(p *transport.Port, round int) {
	p.Take(transport.Data, nil)
	if _, ok := p.Peek(bystander); ok {
		p.Advance(bystander)
		p.ReturnCredit(bystander, uint64(round))
	}
	p.Sweep(bystander)
}

// asPeer runs a part of a living peer in between; its stores kill no rank.
func (r *killRun) asPeer(part func() error) error {
	armed := r.armed
	r.armed = false
	defer func() { r.armed = armed }()
	return part()
}

// send sends n data frames to the receiver, and a control frame after every third. There is room
// for them.
func (r *killRun) send(from, n int) error {
	for range n {
		if err := r.sendData(from); err != nil {
			return err
		}
		if r.data[from].begun%3 == 0 {
			if err := r.sendControl(from); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *killRun) sendData(from int) error {
	c := &r.data[from]
	h, payload := killFrame(from, c.begun)
	c.begun++
	if !r.ports[from].TrySend(receiver, &h, payload) {
		return fmt.Errorf("rank %d: no room for frame %d", from, c.begun)
	}
	c.over++
	return r.found(from)
}

func (r *killRun) sendControl(from int) error {
	c := &r.control[from]
	text := killText(from, c.begun)
	c.begun++
	if r.ports[from].TryControl(receiver, text, 0) < len(text) {
		return fmt.Errorf("rank %d: no room for control frame %d", from, c.begun)
	}
	c.over++
	return r.found(from)
}

// found requires, if the receiver polls, that it finds everything that the victim has sent.
func (r *killRun) found(from int) error {
	if !r.look || from != victim {
		return nil
	}
	if err := r.asPeer(func() error { return r.read(false) }); err != nil {
		return err
	}
	if d, c := r.data[victim], r.control[victim]; d.read != d.over || c.read != c.over {
		return fmt.Errorf("lost frames of the victim, who is alive: data %+v, control %+v", d, c)
	}
	return nil
}

// killFrame returns the i-th data frame from a rank: inline, in the payload ring, announced, in
// parts.
func killFrame(from, i int) (transport.Header, []byte) {
	h := transport.Header{Ctx: uint32(from), Tag: int32(i), Kind: transport.Eager, Size: []int{8, 3000, 1 << 30, 2500}[i%4]}
	switch i % 4 {
	case 2:
		h.Kind, h.Handle, h.Sync = transport.Announce, uint64(i), true
		return h, nil
	case 3:
		h.Kind, h.Handle, h.Offset = transport.Chunk, uint64(i), 100*i
	}
	return h, bytes.Repeat([]byte{byte(from), byte(i), 0xa5}, h.Size)[:h.Size]
}

func killText(from, i int) []byte {
	return bytes.Repeat([]byte{byte(from), byte(i), 0x5a}, 40)[:10+20*(i%5)]
}

// read makes the receiver read all frames of the processes that Take names, or, after a declaration
// of death, of all processes.
func (r *killRun) read(everywhere bool) error {
	p := r.ports[receiver]
	procs := []int{victim, bystander}
	if !everywhere {
		procs = p.Take(transport.Control, p.Take(transport.Data, nil))
	}
	for _, from := range procs {
		for frame, ok := p.NextControl(from); ok; frame, ok = p.NextControl(from) {
			if !bytes.Equal(frame, killText(from, r.control[from].read)) {
				return fmt.Errorf("control frame %d from rank %d is not what was sent", r.control[from].read, from)
			}
			r.control[from].read++
		}
		for f, ok := p.Peek(from); ok; f, ok = p.Peek(from) {
			h, payload := killFrame(from, r.data[from].read)
			if f.Header != h || !bytes.Equal(f.Payload, payload) {
				return fmt.Errorf("data frame %d from rank %d is not what was sent", r.data[from].read, from)
			}
			r.data[from].read++
			p.Advance(from)
		}
		p.Sweep(from)
		if err := p.Broken(from); err != nil {
			return err
		}
	}
	return nil
}

// bystanding makes the bystander send n frames, which the receiver finds by their bits.
func (r *killRun) bystanding(n int) error {
	for range n {
		if err := r.send(bystander, 1); err != nil {
			return err
		}
		if err := r.read(false); err != nil {
			return err
		}
		if d, c := r.data[bystander], r.control[bystander]; d.read != d.over || c.read != c.over {
			return fmt.Errorf("bystander: data %+v, control %+v", d, c)
		}
	}
	return nil
}

// aftermath declares the victim dead and checks its remaining frames.
func (r *killRun) aftermath() error {
	p := r.ports[receiver]
	epoch := p.Node().Epoch()
	r.world.Depart(victim, true)
	if d, ok := p.Node().Departure(0); !ok || d.Proc != victim || p.Node().Epoch() == epoch {
		return errors.New("the death is not to be seen")
	}
	if err := r.read(true); err != nil {
		return err
	}
	for _, c := range []tally{r.data[victim], r.control[victim]} {
		if c.read < c.over || c.read > c.begun {
			return fmt.Errorf("frames of the victim: %+v", c)
		}
	}
	for range 3 * segment.DataCells {
		h, payload := killFrame(receiver, 1)
		p.TrySend(victim, &h, payload)
		p.TryControl(victim, payload, 0)
	}
	p.CloseControl(victim)
	p.CloseData(victim)
	if h, _ := killFrame(receiver, 0); !p.TrySend(victim, &h, make([]byte, h.Size)) {
		return errors.New("sending to the closed victim must succeed")
	}
	return r.bystanding(200)
}
