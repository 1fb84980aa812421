package shm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// childPart is the environment variable with the part of a child. The child is the test binary,
// started again as rank 1 with the memfds as descriptors 3 and 4.
const childPart = "GOULFM_SHM_TEST_PART"

// patience is the time after which a survivor counts as hung.
const patience = time.Minute

const forever mono.Duration = -1

func TestMain(m *testing.M) {
	part := os.Getenv(childPart)
	if part == "" {
		os.Exit(m.Run())
	}
	go func() { // the lifeline: no child outlives its test
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	fmt.Fprintln(os.Stderr, "rank 1:", child(part))
	os.Exit(1)
}

func child(part string) error {
	p, _, err := Open(1, job, 3, 4)
	if err != nil {
		return err
	}
	if part == "open" {
		return nil
	}
	e := &rank{Port: p, Node: p.Node()}
	if part == "echo" {
		e.onData = func(f transport.Frame) error { return e.send(0, f.Header, bytes.Clone(f.Payload)) }
		return e.await(func() bool { return false })
	}
	for i := 0; ; i++ {
		h, payload := frame(i)
		if err := e.send(0, h, payload); err != nil {
			return err
		}
		if err := e.sendControl(0, text(i)); err != nil {
			return err
		}
	}
}

// A rank is a Port with one peer and the loop around the Port.
type rank struct {
	*transport.Port
	*node.Node
	onData    func(transport.Frame) error
	onControl func([]byte) error
	procs     []int
}

var errDeparted = errors.New("the peer has departed")

func (e *rank) serve() error {
	peer := 1 - e.Me()
	e.procs = e.Take(transport.Control, e.procs[:0])
	e.procs = e.Take(transport.Data, e.procs)
	for frame, ok := e.NextControl(peer); ok; frame, ok = e.NextControl(peer) {
		if err := e.onControl(frame); err != nil {
			return err
		}
	}
	for f, ok := e.Peek(peer); ok; f, ok = e.Peek(peer) {
		if err := e.onData(f); err != nil {
			return err
		}
		e.Advance(peer)
	}
	e.Sweep(peer)
	return e.Broken(peer)
}

// await serves and sleeps until done or until the peer has departed. In the latter case everything
// that the peer published has been served.
func (e *rank) await(done func() bool) error {
	for !done() {
		_, departed := e.Departure(0)
		if err := e.serve(); err != nil {
			return err
		}
		if departed {
			return errDeparted
		}
		e.Sleep(park.Caller, func() bool {
			_, departed := e.Departure(0)
			return departed || e.Pending(-1) || done()
		}, forever)
	}
	return nil
}

func (e *rank) send(to int, h transport.Header, payload []byte) error {
	sent := false
	return e.whenRoom(to, func() bool { sent = sent || e.TrySend(to, &h, payload); return sent })
}

func (e *rank) sendControl(to int, frame []byte) error {
	sent := 0
	return e.whenRoom(to, func() bool {
		if sent < len(frame) {
			sent = e.TryControl(to, frame, sent)
		}
		return sent == len(frame)
	})
}

func (e *rank) whenRoom(to int, try func() bool) error {
	if try() {
		return nil
	}
	e.WantRoom(to, true)
	err := e.await(try)
	e.WantRoom(to, false)
	return err
}

// frame returns the i-th data frame: inline, in the payload ring, and in parts.
func frame(i int) (transport.Header, []byte) {
	h := transport.Header{Ctx: uint32(i), Tag: int32(-i), Kind: transport.Eager, Size: i * 37 % 5000}
	if i%3 == 0 {
		h.Kind, h.Handle, h.Offset = transport.Chunk, uint64(i), i*100
	}
	return h, fill(i, h.Size)
}

// text returns the i-th control frame, of one to a hundred cells.
func text(i int) []byte { return fill(i, 8+i*11%4000) }

// fill returns n bytes that belong to frame i alone, up to 2^32.
func fill(i, n int) []byte {
	unit := binary.LittleEndian.AppendUint32(nil, uint32(i+1)*2654435761)
	return bytes.Repeat(unit, n/4+1)[:n]
}

// start runs the test binary as rank 1 and returns a function that kills rank 1, waits for its end,
// and then publishes its death as a launcher does.
func start(t *testing.T, w *world, part string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childPart+"="+part)
	cmd.ExtraFiles = w.files
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // its status reports the kill
		w.Depart(1, true)
	})
	t.Cleanup(kill)
	return kill
}

// survive runs rank 0 until rank 1 has departed.
func survive(t *testing.T, part func() error) {
	t.Helper()
	end := make(chan error, 1)
	go func() { end <- part() }()
	over := time.NewTimer(patience)
	defer over.Stop()
	select {
	case err := <-end:
		if !errors.Is(err, errDeparted) {
			t.Fatal(err)
		}
	case <-over.C:
		t.Fatal("the survivor hangs")
	}
}

// TestKilledWhileSending kills a process that sends as fast as possible, after a number of frames,
// and continues to read meanwhile. The survivor ends with exactly the data frames that were
// published and whole control frames only.
func TestKilledWhileSending(t *testing.T) {
	for _, after := range []int{0, 1, 2, 10, 63, 64, 65, 500, 1001, 2002} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			w := newWorld(t, 2)
			port := w.open(0)
			e := &rank{Port: port, Node: port.Node()}
			kill := start(t, w, "send")
			data, control, killed := 0, 0, false
			killNow := func() {
				if !killed && data >= after {
					killed = true
					go kill()
				}
			}
			e.onData = func(f transport.Frame) error {
				h, payload := frame(data)
				data++
				killNow()
				return sameFrame(f, h, payload)
			}
			e.onControl = func(got []byte) error {
				control++
				if !bytes.Equal(got, text(control-1)) {
					return fmt.Errorf("control frame %d of %d bytes is not what was sent", control-1, len(got))
				}
				return nil
			}
			killNow()
			survive(t, func() error { return e.await(func() bool { return false }) })
			if n := published(t, w, segment.Data); data != n || data < after {
				t.Errorf("%d data frames read, %d published, killed after %d", data, n, after)
			}
			if control != data && control != data-1 {
				t.Errorf("%d control frames and %d data frames of a process that sends them in turn", control, data)
			}
			wantSendsEnd(t, e)
		})
	}
}

func sameFrame(f transport.Frame, h transport.Header, payload []byte) error {
	if f.Header != h || !bytes.Equal(f.Payload, payload) {
		return fmt.Errorf("%+v with %d bytes is not what was sent: %+v", f.Header, len(f.Payload), h)
	}
	return nil
}

// published returns the number of cells that rank 1 has published to rank 0.
func published(t *testing.T, w *world, k segment.Kind) int {
	t.Helper()
	r, err := w.Arena(1).Find(k, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var most uint64
	if r != nil {
		for i := range r.Cells {
			most = max(most, segment.Load64(&r.Cells[i].Seq))
		}
	}
	return int(most)
}

// wantSendsEnd requires that frames to the dead, which no process reads, find room at first and
// none later. After the close, sending succeeds.
func wantSendsEnd(t *testing.T, e *rank) {
	t.Helper()
	h := transport.Header{Kind: transport.Eager}
	for range 10 * segment.DataCells {
		e.TrySend(1, &h, nil)
	}
	if e.TrySend(1, &h, nil) {
		t.Error("room without end in the ring to a dead process")
	}
	e.CloseControl(1)
	e.CloseData(1)
	if !e.TrySend(1, &h, nil) || e.TryControl(1, []byte("x"), 0) != 1 {
		t.Error("sending to a closed process must succeed")
	}
}

// TestPingPongKilled plays ping-pong with a process and kills the process in the middle: the
// survivor sleeps until an answer that never arrives, and the death wakes the survivor.
func TestPingPongKilled(t *testing.T) {
	const before = 2000
	w := newWorld(t, 2)
	port := w.open(0)
	e := &rank{Port: port, Node: port.Node()}
	kill := start(t, w, "echo")
	rounds, answers := 0, 0
	e.onData = func(f transport.Frame) error {
		h, payload := frame(answers)
		answers++
		return sameFrame(f, h, payload)
	}
	survive(t, func() error {
		for i := 0; ; i++ {
			h, payload := frame(i)
			if err := e.send(1, h, payload); err != nil {
				return err
			}
			if i == before {
				go kill()
			}
			if err := e.await(func() bool { return answers == i+1 }); err != nil {
				return err
			}
			rounds = i + 1
		}
	})
	if rounds < before || answers != published(t, w, segment.Data) {
		t.Errorf("%d rounds, %d answers read, %d published", rounds, answers, published(t, w, segment.Data))
	}
}
