package recovery

import (
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/ckpt/relayout"
)

// dealOut gives the members the values of a version that a world of another size has made. Each
// part is at its server (repair.Plan.Servers) and is kept until the next commit.
func (w *World) dealOut(v *version) error {
	for i, m := range w.members {
		b, err := w.common(v, i)
		if !m.option.Same {
			b, err = w.rows(v, i)
		}
		if err != nil {
			return err
		}
		if err := m.restore(b); err != nil {
			return err
		}
	}
	return nil
}

// common returns the value of a member that is the same at all ranks, and nil for other members.
func (w *World) common(v *version, i int) ([]byte, error) {
	if !w.members[i].option.Same {
		return nil, nil
	}
	var b []byte
	server := w.plan.Servers[0]
	if w.run.Rank == server {
		b = v.parts[0][i]
	}
	err := collectives.BcastValue(w.ctx, w.base, server, &b)
	return b, err
}

// rows moves the rows of a member from the old distribution to the present one. All ranks make the
// moves in one order, which excludes a cycle of waiting ranks.
func (w *World) rows(v *version, i int) ([]byte, error) {
	m := w.members[i]
	if checkShrinkable([]Member{m}) != nil {
		return nil, fmt.Errorf("%w: %q cannot be dealt out to %d ranks: it is neither Same nor a Slice of Rows", ErrMember, m.name, w.run.Size)
	}
	bytes := m.option.Width * m.elem
	to := relayout.Blocks(m.option.Total, w.run.Size)
	mine := make([]byte, to.Len(w.run.Rank)*bytes)
	for _, move := range relayout.Moves(relayout.Blocks(m.option.Total, w.plan.Size), to) {
		from, at := w.plan.Servers[move.From], mine
		var source []byte
		if from == w.run.Rank {
			source = v.parts[move.From][i][move.FromOffset*bytes:][:move.Count*bytes]
		}
		if move.To == w.run.Rank {
			at = mine[move.ToOffset*bytes:][:move.Count*bytes]
		}
		if err := w.moveRows(from, move.To, source, at); err != nil {
			return nil, err
		}
	}
	return mine, nil
}

func (w *World) moveRows(from, to int, source, at []byte) error {
	var err error
	switch w.run.Rank {
	case from:
		if to == from {
			copy(at, source)
			return nil
		}
		err = comm.Send(w.ctx, w.base.To(to).Tag(transferTag), source)
	case to:
		_, err = comm.Recv(w.ctx, w.base.From(from).Tag(transferTag), at)
	}
	return err
}
