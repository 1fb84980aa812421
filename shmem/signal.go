package shmem

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/comm"
)

// A SignalOp is the effect of a PutSignal on its signal.
type SignalOp uint8

// The operations on signals.
const (
	SignalSet SignalOp = iota + 1 // store the value in the signal
	SignalAdd                     // add the value to the signal
)

// PutSignal is Put that afterwards sets the first element of sig at that PE to v, or adds v. A PE
// that sees the signal (WaitUntil) finds the data. A visible signal implies its data, whichever PEs
// die afterwards (shmem_put_signal). Errors as of Put, and comm.ErrArgument for another op.
func (s Sym[T]) PutSignal(ctx context.Context, pe int, src []T, sig Sym[uint64], v uint64, op SignalOp) error {
	const name = "put_signal"
	switch {
	case s.isOutside(0, len(src)):
		return s.raise(s.outside(name, pe, 0, len(src)))
	case sig.isOutside(0, 1):
		return s.raise(sig.outside(name, pe, 0, 1))
	case op != SignalSet && op != SignalAdd:
		return s.raise(s.h.fail(name, nil, fmt.Errorf("%w: %d of a signal", comm.ErrArgument, op)))
	}
	if err := s.w.At(pe).Put(ctx, s.at, src); err != nil {
		return err
	}
	if op == SignalSet {
		return sig.Set(ctx, pe, 0, v)
	}
	return Add(ctx, sig, pe, 0, v)
}

// SignalFetch returns the first element of sig at this PE, atomically (shmem_signal_fetch). Errors
// as of Fetch.
func SignalFetch(ctx context.Context, sig Sym[uint64]) (uint64, error) {
	if sig.h == nil {
		return 0, sig.wrong("signal_fetch")
	}
	return sig.Fetch(ctx, sig.h.PE(), 0)
}
