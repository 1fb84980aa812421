package recovery

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/internal/base/logline"
	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
	"github.com/goulfm/goulfm/internal/ckpt/relayout"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// RestartVariable is the variable that chooses the version that a job starts from: see Files.
const RestartVariable = "GOULFM_RESTART"

// findVersions finds the versions that the job may start from: at its lowest rank, before the first
// agreement. Versions that cannot be restored are named. An error ends the program: a job that was
// to continue is not started from the beginning. Later, a replacement at the lowest rank finds the
// versions that the job has written.
func (r *runner) findVersions(g repair.Gather) error {
	f, wanted := r.files, os.Getenv(RestartVariable)
	all, err := checkpoint.List(r.ctx, f.store)
	switch {
	case err != nil && g.Known: // a version in files may not be needed
		r.warn("versions not listed", attrs(slog.Int("rank", r.w.Rank()), slog.String("files", f.where), logline.Error(err)),
			"rank %d cannot list the versions in %s: %v", r.w.Rank(), f.where, err)
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", ErrFiles, err)
	}
	all = slices.DeleteFunc(all, func(v checkpoint.Version) bool { return v.Job != f.cfg.Job })
	if g.Known {
		for _, v := range all {
			what := stored(v)
			f.archive.Found(what, wanted == "" && f.fitsArguments(v) || wanted == "latest" || isOf(g, what.Label))
		}
		return nil
	}
	f.offered = 0
	found, newest := false, true
	for _, v := range all {
		what := stored(v)
		named := wanted == v.Name() || wanted == what.Label.String()
		if wanted == "none" || wanted != "" && wanted != "latest" && !named {
			f.archive.Found(what, false)
			continue
		}
		switch {
		case v.Err == nil && wanted == "" && !f.fitsArguments(v):
			if !newest {
				f.archive.Found(what, false)
				continue
			}
			return f.otherArguments(v)
		case v.Err == nil:
			newest = false
			if err := r.w.fits(f.store, v); err != nil {
				return err
			}
			found = found || named
		case named:
			return fmt.Errorf("%w: %s in %s: %w", ErrLost, v.Name(), f.where, v.Err)
		case what.State != repair.Unpublished:
			r.warn("version not restored", attrs(slog.String("version", v.Name()), slog.String("files", f.where), logline.Error(v.Err)),
				"%s in %s is not restored: %v", v.Name(), f.where, v.Err)
		}
		if what.State != repair.Unpublished {
			f.offered++
		}
		f.archive.Found(what, true)
	}
	if wanted != "" && wanted != "none" && wanted != "latest" && !found {
		return fmt.Errorf("%w: %s=%s: no such version of %s in %s", ErrLost, RestartVariable, wanted, f.cfg.Job, f.where)
	}
	return nil
}

// isOf reports whether a version certainly was made by this job, or is the one that the job started
// from. Other versions may be of an earlier job, from which this job was not to continue.
func isOf(g repair.Gather, l repair.Label) bool {
	return l.Epoch == g.Committed.Epoch && !g.Committed.Less(l)
}

// fits returns an error if this program, with its number of ranks, cannot restore a version of
// another job.
func (w *World) fits(s checkpoint.Store, v checkpoint.Version) error {
	m, err := ckptfile.ReadManifest(w.r.ctx, s, v.Name())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFiles, err)
	}
	file, err := ckptfile.OpenFile(w.r.ctx, s, m, 0)
	if err != nil {
		return nil //nolint:nilerr // reading it will tell, and an older version may do
	}
	return w.fitsHead(file.Head())
}

func (w *World) fitsHead(h ckptfile.Head) error {
	if len(h.Members) != len(w.members) {
		return fmt.Errorf("%w: %s has %d members, this program has %d (%s=none starts anew)",
			ErrMember, ckptfile.FolderName(h.Job, h.Epoch, h.Number), len(h.Members), len(w.members), RestartVariable)
	}
	for i, m := range w.members {
		is, was := m.described(), h.Members[i]
		if is.Name != was.Name || is.Kind != was.Kind || is.Element != was.Element || is.Options != was.Options {
			return fmt.Errorf("%w: %s has %q, %s %s, this program has %q, %s %s (%s=none starts anew)",
				ErrMember, ckptfile.FolderName(h.Job, h.Epoch, h.Number), was.Name, was.Kind, was.Options, is.Name, is.Kind, is.Options, RestartVariable)
		}
		if h.Size != w.Size() && !m.option.Same && !m.isRows() {
			return fmt.Errorf("%w: %q was written by %d ranks and cannot be dealt out to %d: it is neither Same nor a Slice of Rows", ErrMember, m.name, h.Size, w.Size())
		}
	}
	return nil
}

// awaitPublished returns when the version that rank 0 publishes is in files. All ranks know of this
// version once they have agreed on it, and a rank that reads the files too early marks the version
// as unreadable for good.
//
//	0        publishes version 3.13; the store takes long
//	1        dies; memory has too little without it
//	0, 2     go back to 3.13, and see no manifest
func (r *runner) awaitPublished() error {
	w := r.w
	if over := r.files.publishing; over != nil {
		select {
		case <-over:
		case <-w.ctx.Done():
			return w.ctx.Err()
		}
	}
	return collectives.Barrier(w.ctx, w.base)
}

// reload reads this rank's part of a version from files. All ranks together read all bytes of the
// version before any data are restored.
func (w *World) reload(l repair.Label) (part, error) {
	f := w.r.files
	m, err := ckptfile.ReadManifest(w.ctx, f.store, f.name(l))
	if err != nil {
		return nil, err
	}
	for rank := range repair.Examined(w.Rank(), w.Size(), len(m.Files)) {
		if err := ckptfile.VerifyFile(w.ctx, f.store, m, rank); err != nil {
			return nil, err
		}
	}
	in := &source{ctx: w.ctx, store: f.store, manifest: m, files: map[int]*ckptfile.Reader{}}
	first, err := in.file(0)
	if err != nil {
		return nil, err
	}
	if err := w.fitsHead(first.Head()); err != nil {
		return nil, err
	}
	p := make(part, len(w.members))
	for i, member := range w.members {
		if p[i], err = in.member(w, member, i); err != nil {
			return nil, err
		}
	}
	w.writers = len(m.Files)
	return p, nil
}

// A source is a version in files; each file is opened on demand.
type source struct {
	ctx      context.Context
	store    checkpoint.Store
	manifest ckptfile.Manifest
	files    map[int]*ckptfile.Reader
}

func (s *source) file(rank int) (*ckptfile.Reader, error) {
	if f := s.files[rank]; f != nil {
		return f, nil
	}
	f, err := ckptfile.OpenFile(s.ctx, s.store, s.manifest, rank)
	if err == nil {
		s.files[rank] = f
	}
	return f, err
}

// member reads this rank's data of a member. The rows in the file of this rank may be others than
// those that the rank has now, also if the number of ranks is the same: the build e872d31 spread the
// surplus rows over all ranks, and comm.Block gives them to the first ones.
func (s *source) member(w *World, m Member, member int) ([]byte, error) {
	if m.option.Same {
		return s.whole(0, member)
	}
	if len(s.manifest.Files) == w.Size() {
		f, err := s.file(w.Rank())
		if err != nil {
			return nil, err
		}
		if !m.isRows() || slices.Equal(f.Head().Members[member].Runs, m.runs(w)) {
			return s.whole(w.Rank(), member)
		}
	}
	return s.rows(w, m, member)
}

func (s *source) whole(rank, member int) ([]byte, error) {
	f, err := s.file(rank)
	if err != nil {
		return nil, err
	}
	b := make([]byte, f.Head().Members[member].Bytes)
	return b, f.ReadMember(b, member, 0)
}

// rows reads the present rows of this rank, from the files of their former owners.
func (s *source) rows(w *World, m Member, member int) ([]byte, error) {
	elements := m.option.Total * m.option.Width
	from := make(relayout.Dist, len(s.manifest.Files))
	for rank := range from {
		f, err := s.file(rank)
		if err != nil {
			return nil, err
		}
		for _, run := range f.Head().Members[member].Runs {
			from[rank] = append(from[rank], relayout.Run{Start: run[0], Count: run[1]})
		}
		if f.Head().Members[member].Bytes != int64(from.Len(rank)*m.elem) {
			return nil, fmt.Errorf("%q of rank %d: %d bytes are not its rows", m.name, rank, f.Head().Members[member].Bytes)
		}
	}
	if err := from.Check(elements); err != nil {
		return nil, fmt.Errorf("%q: %w", m.name, err)
	}
	to := relayout.Blocks(m.option.Total, w.Size())
	for rank := range to {
		for i := range to[rank] {
			to[rank][i].Start *= m.option.Width
			to[rank][i].Count *= m.option.Width
		}
	}
	mine := make([]byte, to.Len(w.Rank())*m.elem)
	for _, move := range relayout.Moves(from, to) {
		if move.To != w.Rank() {
			continue
		}
		at := mine[move.ToOffset*m.elem:][:move.Count*m.elem]
		if err := s.files[move.From].ReadMember(at, member, int64(move.FromOffset*m.elem)); err != nil {
			return nil, err
		}
	}
	return mine, nil
}

// spoiled notes that a version cannot be restored, and reports the reason.
func (r *runner) spoiled(l repair.Label, err error) {
	if r.w.ctx.Err() != nil {
		return // the end of the attempt is the reason
	}
	name, where := r.files.name(l), r.files.where
	r.warn("version not restored", attrs(slog.Int("rank", r.w.Rank()), slog.String("version", name), slog.String("files", where), logline.Error(err)),
		"rank %d: %s in %s is not restored: %v", r.w.Rank(), name, where, strings.TrimPrefix(err.Error(), name+"/"))
	r.files.archive.Spoiled(l)
}
