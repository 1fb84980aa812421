package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
)

// A home keeps the protected data of this process beyond its death: in the memory of its node,
// under the home number of the rules. A nil home does nothing.
type home struct {
	*rankstore.Home
	process   int
	committed repair.Label      // agreed, as far as the predecessor knew
	taken     []*rankstore.Home // read by this process; their ranks are not on this node now
	dropped   []repair.Label    // not to be restored, though another home may still have them
	err       error             // the error of a change whose result no caller waits for
}

// Kinds of the objects in a home.
const (
	ofCommit    rankstore.Kind = iota + 1 // the part of a rank
	ofSave                                // the data of a Save; the number counts calls
	ofAgreement                           // no data: the label is that of the oldest version that is needed
)

// partIn names the part of a rank in a home. In a world that has shrunk and was filled again, ranks
// may have other homes than before. Then one home has the parts of two ranks until the next commit.
//
//	homes of ranks 0, 1, 2   each has the part of its rank; 0 dies and is not replaced
//	1, 2 go on as 0, 1       and serve the version of three ranks
//	homes 1, 2, 0            a third rank has come: home 1 now has the parts of ranks 0 and 1
func partIn(l repair.Label, rank int) rankstore.Label {
	return rankstore.Label{Kind: ofCommit, Epoch: l.Epoch, Number: l.Number, Rank: uint32(rank)}
}

// isPartOf reports whether an object in a home is a part of a version.
func isPartOf(k rankstore.Label, l repair.Label) bool {
	return k.Kind == ofCommit && versionOf(k) == l
}

// versionOf returns the version of an object in a home.
func versionOf(k rankstore.Label) repair.Label { return repair.Label{Epoch: k.Epoch, Number: k.Number} }

func agreementIn(l repair.Label) rankstore.Label {
	return rankstore.Label{Kind: ofAgreement, Epoch: l.Epoch, Number: l.Number}
}

// Bounds of the wait for a home whose owner has died and was not reaped yet.
const (
	claimPause = time.Millisecond
	claimMax   = time.Minute
)

// claim makes this process the owner of its home. Until the predecessor was reaped, this process
// only reads the home.
func (h *home) claim(ctx context.Context) error {
	for begun := time.Now(); ; {
		err := h.Claim(h.process)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, rankstore.ErrOwned):
			return fmt.Errorf("%w: %w", ErrMemory, err)
		case time.Since(begun) > claimMax:
			return fmt.Errorf("%w: home %d still belongs to a process that has died", ErrMemory, h.Number())
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(claimPause):
		}
	}
}

// has reports whether the home has a version.
func (h *home) has(l rankstore.Label) bool {
	labels, err := h.Labels()
	return err == nil && slices.Contains(labels, l)
}

// store writes a version.
func (h *home) store(ctx context.Context, l rankstore.Label, parts []rankstore.Part) error {
	if err := errors.Join(h.err, h.claim(ctx)); err != nil {
		return err
	}
	if err := h.Write(l, parts); err != nil {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return nil
}

// keepPart stores this rank's part of a version in its home. False: the part was not stored; unless
// the attempt is over, revoke then informs all ranks.
func (r *runner) keepPart(l repair.Label, p part) bool {
	if r.home == nil {
		return true
	}
	w := r.w
	w.base.Mark("commit.keep", r.clock.count("keep"))
	err := r.home.claim(w.ctx)
	if err == nil {
		err = r.home.forget(func(k rankstore.Label) bool { return k.Kind == ofCommit && w.isStale(k) })
	}
	if err == nil {
		err = r.home.store(w.ctx, partIn(l, w.run.Rank), w.partsOf(p))
	}
	return w.kept(err)
}

// kept reports whether a store succeeded. A failure in a live attempt revokes the attempt.
func (w *World) kept(err error) bool {
	if err != nil && w.ctx.Err() == nil {
		w.bad = err
		w.revoke()
	}
	return err == nil
}

// isStale is the rule of a plan for a part in this home.
func (w *World) isStale(k rankstore.Label) bool {
	return w.plan.IsStale(versionOf(k), int(k.Rank), w.run)
}

// keepRestored stores the restored data in the home if they are missing there: they came from a
// copy of another process, or the rank is on another node now.
func (r *runner) keepRestored(p repair.Plan) bool {
	if r.home == nil {
		return true
	}
	w := r.w
	l := partIn(p.Label, w.run.Rank)
	if v := r.mem.find(p.Label); p.Source == repair.FromMemory && p.Size == w.run.Size && !r.home.has(l) {
		if !w.kept(r.home.store(w.ctx, l, w.partsOf(v.parts[w.run.Rank]))) {
			return false
		}
	}
	s := r.own.get(w.run.Home)
	if !w.hasOwn() || s.count == 0 || r.home.has(rankstore.Label{Kind: ofSave, Number: s.count}) {
		return true
	}
	return w.kept(r.keepSaving(s))
}

// keepSaving stores a saving in the home.
func (r *runner) keepSaving(s saving) error {
	if r.home == nil {
		return nil
	}
	r.w.base.Mark("save.keep", r.clock.count("savekeep"))
	l := rankstore.Label{Kind: ofSave, Number: s.count}
	if err := r.home.store(r.w.ctx, l, r.w.partsOf(s.part)); err != nil {
		return err
	}
	return errors.Join(r.home.forget(func(k rankstore.Label) bool { return k.Kind == ofSave && k.Number < s.count }), r.home.punch())
}

// agreed notes that no version before oldest is needed any more.
func (h *home) agreed(oldest repair.Label) {
	if h == nil {
		return
	}
	older := func(kind rankstore.Kind) func(rankstore.Label) bool {
		return func(k rankstore.Label) bool { return k.Kind == kind && versionOf(k).Less(oldest) }
	}
	h.err = errors.Join(h.err, h.forget(older(ofCommit)), h.store(uniform, agreementIn(oldest), nil), h.forget(older(ofAgreement)), h.punch())
	for _, other := range h.taken {
		h.clear(other)
	}
	h.taken = nil
}

// clear frees the memory of another home, whose data are in a newer version by now. A home whose
// owner is not reaped yet stays until the next time.
func (h *home) clear(other *rankstore.Home) {
	if other.Claim(h.process) == nil {
		h.err = errors.Join(h.err, other.Clear())
		other.Yield()
	}
}

// drop forgets a version that is not to be restored.
func (h *home) drop(l repair.Label) {
	if h != nil {
		h.dropped = append(h.dropped, l)
		h.err = errors.Join(h.err, h.forget(func(k rankstore.Label) bool { return isPartOf(k, l) }))
	}
}

func (h *home) forget(which func(k rankstore.Label) bool) error {
	if err := h.Drop(which); err != nil {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return nil
}

func (h *home) punch() error {
	if err := h.Punch(); err != nil {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return nil
}
