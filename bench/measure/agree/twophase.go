package agree

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/bench/internal/log2phases"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/ulfm"
)

// An agreement is the algorithm that the benchmark measures.
type agreement interface {
	Agree(ctx context.Context, flag uint64) (uint64, error)
	Acknowledge() error
}

// library is the agreement of package comm, by the rules of --agree of goulfm run.
type library struct{ *comm.Comm }

func (l library) Acknowledge() error {
	_, err := l.AckFailed(l.Size())
	return err
}

// twoPhase hosts log2phases on the messages of a communicator. A message is the number of its
// agreement, and the bytes of the rules. A rank answers messages only while it is in Agree: the
// algorithm blocks.
type twoPhase struct {
	w     *comm.Comm
	rules *log2phases.Series
	known rankset.Set // failures that the rules know
	acked rankset.Set // those that the program has acknowledged
	buf   []byte
}

const twoPhaseTag = 1 << 20

func newTwoPhase(w *comm.Comm) *twoPhase {
	// A message holds at most four sets of ranks. Each takes less than two bytes a rank.
	buf := make([]byte, 256+8*w.Size())
	return &twoPhase{w: w, rules: log2phases.NewSeries(log2phases.Config{N: w.Size(), Me: w.Rank()}), buf: buf}
}

// Acknowledge makes the deaths that are known now no error of later agreements.
func (h *twoPhase) Acknowledge() error {
	h.acked = h.known.Clone()
	return nil
}

// Agree returns the AND of the flags. The error is a process failure if a death is agreed that not
// all contributors have acknowledged.
func (h *twoPhase) Agree(ctx context.Context, flag uint64) (uint64, error) {
	claim := era.Claim{Rank: h.w.Rank()}
	value := era.Value{Flag: flag, Lo: claim, Hi: claim, Acked: h.acked.Clone()}
	result, err := h.step(ctx, era.Propose{Value: value})
	for err == nil && h.rules.Waiting() {
		result, err = h.next(ctx)
	}
	switch {
	case err != nil:
		return 0, err
	case result.Failed():
		return result.Flag, fmt.Errorf("two-phase agreement: ranks %v have died: %w", result.Dead, ulfm.ErrProcFailed)
	}
	return result.Flag, nil
}

// next waits for one message or death, and gives it to the rules.
func (h *twoPhase) next(ctx context.Context) (era.Value, error) {
	st, err := comm.Recv(ctx, h.w.From(comm.Any).Tag(twoPhaseTag), h.buf)
	switch {
	case errors.Is(err, ulfm.ErrProcFailed):
		return h.deaths(ctx)
	case err != nil:
		return era.Value{}, err
	}
	seq, n := binary.Uvarint(h.buf[:st.Count])
	if n <= 0 {
		return era.Value{}, fmt.Errorf("message of %d bytes from rank %d has no number of an agreement", st.Count, st.Source)
	}
	return h.step(ctx, era.Receive{From: st.Source, Seq: seq, Msg: h.buf[n:st.Count]})
}

// deaths reports new failures to the rules, and lets receives from any rank continue.
func (h *twoPhase) deaths(ctx context.Context) (result era.Value, err error) {
	if _, err := h.w.AckFailed(h.w.Size()); err != nil {
		return result, err
	}
	for _, r := range h.w.FailedRanks() {
		if !h.known.Add(r) {
			continue
		}
		v, err := h.step(ctx, era.Failed{Rank: r})
		if err != nil {
			return v, err
		}
		if !v.From.IsEmpty() {
			result = v
		}
	}
	return result, nil
}

// step gives one event to the rules and executes their actions. It returns the decision, if there
// is one.
func (h *twoPhase) step(ctx context.Context, ev era.Event) (result era.Value, err error) {
	for _, act := range h.rules.Step(ev) {
		switch act := act.(type) {
		case era.Send:
			msg := append(binary.AppendUvarint(nil, act.Seq), act.Msg...)
			err := comm.Send(ctx, h.w.To(act.To).Tag(twoPhaseTag), msg)
			if err != nil && !errors.Is(err, ulfm.ErrProcFailed) { // of a dead receiver the next receive reports
				return result, err
			}
		case era.Decide:
			result = act.Value
			h.known.Union(result.Dead)
		case era.Anomaly:
			return result, fmt.Errorf("rank %d: %s", act.From, act.Text)
		}
	}
	return result, nil
}
