package p2p

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/batch"
)

// window is the number of messages under way at once, as OSU's.
const window = 64

const (
	dataTag = 1
	ackTag  = 2
)

// A pair is one rank's side of the exchange between ranks 0 and 1.
type pair struct {
	rank   int
	to     comm.Dest
	from   comm.Source
	ackTo  comm.Dest
	ackOf  comm.Source
	out    []byte
	in     []byte
	ack    []byte
	sends  []comm.Request
	recvs  []comm.Request
	active bool // rank 0 or 1
}

func newPair(w *comm.Comm, size int) *pair {
	p := &pair{rank: w.Rank(), active: w.Rank() < 2, ack: make([]byte, 1),
		sends: make([]comm.Request, window), recvs: make([]comm.Request, window)}
	if !p.active {
		return p
	}
	other := 1 - w.Rank()
	p.to, p.from = w.To(other).Tag(dataTag), w.From(other).Tag(dataTag)
	p.ackTo, p.ackOf = w.To(other).Tag(ackTag), w.From(other).Tag(ackTag)
	p.out, p.in = make([]byte, size), make([]byte, size)
	for i := range p.out {
		p.out[i], p.in[i] = mark(p.rank, i), 0xff
	}
	return p
}

// mark is the byte that a rank sends at place i. It differs from the first content of each buffer.
func mark(rank, i int) byte { return byte((i*7+rank)%251 + 1) }

// check reports an error unless the last received data is the data that the other rank sent.
func (p *pair) check(op string) error {
	if !p.active || p.rank == 0 && op != "latency" && op != "bibandwidth" {
		return nil // this rank receives no data
	}
	for i, b := range p.in {
		if b != mark(1-p.rank, i) {
			return fmt.Errorf("byte %d is %d, want %d", i, b, mark(1-p.rank, i))
		}
	}
	return nil
}

// loop returns this rank's loop of an operation.
func (p *pair) loop(op string) batch.Loop {
	switch {
	case !p.active:
		return func(context.Context, int) error { return nil }
	case op == "latency" && p.rank == 0:
		return p.ping
	case op == "latency":
		return p.pong
	case op == "bibandwidth":
		return p.both
	case p.rank == 0:
		return p.source
	default:
		return p.sink
	}
}

func (p *pair) ping(ctx context.Context, iters int) error {
	for range iters {
		if err := comm.Send(ctx, p.to, p.out); err != nil {
			return err
		}
		if _, err := comm.Recv(ctx, p.from, p.in); err != nil {
			return err
		}
	}
	return nil
}

func (p *pair) pong(ctx context.Context, iters int) error {
	for range iters {
		if _, err := comm.Recv(ctx, p.from, p.in); err != nil {
			return err
		}
		if err := comm.Send(ctx, p.to, p.out); err != nil {
			return err
		}
	}
	return nil
}

func (p *pair) source(ctx context.Context, iters int) error {
	for range iters {
		for i := range p.sends {
			p.sends[i] = comm.Isend(p.to, p.out)
		}
		if err := comm.WaitAll(ctx, p.sends...); err != nil {
			return err
		}
		if _, err := comm.Recv(ctx, p.ackOf, p.ack); err != nil {
			return err
		}
	}
	return nil
}

func (p *pair) sink(ctx context.Context, iters int) error {
	for range iters {
		for i := range p.recvs {
			p.recvs[i] = comm.Irecv(p.from, p.in)
		}
		if err := comm.WaitAll(ctx, p.recvs...); err != nil {
			return err
		}
		if err := comm.Send(ctx, p.ackTo, p.ack); err != nil {
			return err
		}
	}
	return nil
}

func (p *pair) both(ctx context.Context, iters int) error {
	for range iters {
		for i := range p.recvs {
			p.recvs[i] = comm.Irecv(p.from, p.in)
		}
		for i := range p.sends {
			p.sends[i] = comm.Isend(p.to, p.out)
		}
		if err := comm.WaitAll(ctx, p.sends...); err != nil {
			return err
		}
		if err := comm.WaitAll(ctx, p.recvs...); err != nil {
			return err
		}
	}
	return nil
}
