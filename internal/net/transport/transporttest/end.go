package transporttest

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
)

const forever mono.Duration = -1

// An end is a rank's transport with the loop that every caller of a transport needs. One goroutine
// calls its methods.
type end struct {
	transport.Link
	*node.Node
	onData    func(from int, f transport.Frame) error
	onControl func(from int, frame []byte) error
	procs     []int
}

func newEnd(w World, rank int) *end {
	given := w.Port(rank)
	e := &end{Link: given.Link, Node: given.Node}
	e.onData = func(from int, f transport.Frame) error {
		return fmt.Errorf("rank %d got a data frame from %d that nobody sent: %+v", rank, from, f.Header)
	}
	e.onControl = func(from int, frame []byte) error {
		return fmt.Errorf("rank %d got a control frame of %d bytes from %d that nobody sent", rank, len(frame), from)
	}
	return e
}

func ends(w World, n int) []*end {
	var list []*end
	for rank := range n {
		list = append(list, newEnd(w, rank))
	}
	return list
}

// serve takes all frames of the processes that Take names, and sweeps.
func (e *end) serve() error {
	for _, c := range [2]transport.Class{transport.Control, transport.Data} {
		e.procs = e.Take(c, e.procs[:0])
		for _, q := range e.procs {
			moves.Add(1)
			if err := e.drain(q, c); err != nil {
				return err
			}
			e.Sweep(q)
			if err := e.Broken(q); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *end) drain(from int, c transport.Class) error {
	for {
		if c == transport.Control {
			frame, ok := e.NextControl(from)
			if !ok {
				return nil
			}
			if err := e.onControl(from, frame); err != nil {
				return err
			}
			continue
		}
		f, ok := e.Peek(from)
		if !ok {
			return nil
		}
		if err := e.onData(from, f); err != nil {
			return err
		}
		e.Advance(from)
	}
}

// await serves and sleeps until done is true. It evaluates done once more after it has raised the
// flag: a later change of done must ring the bell.
func (e *end) await(done func() bool) error {
	for !done() {
		if err := e.serve(); err != nil {
			return err
		}
		e.Sleep(park.Caller, func() bool { return e.Pending(-1) || done() }, forever)
	}
	return nil
}

// awaitAndSettle is await and settle, for the part of an end that only waits.
func (e *end) awaitAndSettle(done func() bool) error {
	if err := e.await(done); err != nil {
		return err
	}
	return e.settle()
}

// A writer is a link that may write frames later, if it cannot write them at once. Its process must
// poll until all are written.
type writer interface{ Written() bool }

// settle serves until nothing is left to do here. Each part that sends or receives ends with
// settle: on some links, a process has to stay until its peers have received everything.
func (e *end) settle() error {
	if w, ok := e.Link.(writer); ok {
		if err := e.await(w.Written); err != nil {
			return err
		}
	}
	for e.Pending(-1) {
		if err := e.serve(); err != nil {
			return err
		}
	}
	return nil
}

// send sends a data frame and waits for room if necessary.
func (e *end) send(to int, h transport.Header, payload []byte) error {
	sent := false
	return e.whenRoom(to, func() bool {
		sent = sent || e.TrySend(to, &h, payload)
		return sent
	})
}

// sendControl sends a control frame and waits for room if necessary.
func (e *end) sendControl(to int, frame []byte) error {
	sent := 0
	return e.whenRoom(to, func() bool {
		if sent < len(frame) {
			sent = e.TryControl(to, frame, sent)
		}
		return sent == len(frame)
	})
}

func (e *end) whenRoom(to int, try func() bool) error {
	if try() {
		return nil
	}
	e.WantRoom(to, true)
	err := e.await(try)
	e.WantRoom(to, false)
	return err
}
