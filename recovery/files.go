package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goulfm/goulfm/internal/base/logline"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
	"github.com/goulfm/goulfm/internal/ckpt/commitinterval"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// Files is the place for versions that outlive the job. The zero value writes no files.
//
// Each rank writes its part of a version in the background. When all parts are written, the lowest
// rank publishes the version; before that the version does not exist. A job that is started again,
// with any number of ranks, continues from the newest complete version of its name. The variable
// GOULFM_RESTART overrides this choice: none, latest, or a version as goulfm checkpoint ls names
// it. Members that are neither Same nor a Slice of Rows need the number of ranks that wrote them.
type Files struct {
	// Dir is a folder that all nodes see, and that only the owner of the job may write to.
	Dir string
	// Store replaces Dir.
	Store checkpoint.Store
	// Job is the name of the versions. Default: the name of the program's file.
	Job string
	// Arguments are the arguments of the problem that the job computes. A version with other
	// arguments is not restored, and the job ends with ErrArguments, unless GOULFM_RESTART names
	// this version or is latest. Default: the arguments of the program.
	Arguments []string
	// Every writes files of each Every-th version, provided that the files of earlier versions are
	// complete. Default 0: the interval follows from the costs of files and the losses of the job.
	Every int
	// MTBF is the mean time between losses of the job, for that computation. Default one day.
	MTBF time.Duration
	// Keep is the number of versions that stay. Default 2.
	Keep int
	// Must ends the program with ErrFiles if files cannot be written. Without Must the failure is
	// only reported in Config.Log, and the next version is tried.
	Must bool
}

// files is one process's state of the files. Only the body's goroutine uses it, except for the
// fields of background work.
type files struct {
	cfg   Files
	store checkpoint.Store
	where string // for messages

	archive repair.Archive // the known versions, and the rules about them
	offered int            // versions found at the start of the job and not excluded, damaged ones too
	claim   claim          // the lock of the name

	open     *writing  // the version that is being written
	made     time.Time // when this process began to observe
	begun    time.Time // when the last version was begun
	since    int       // commits since then
	pacer    *commitinterval.Pacer
	reported string // the last error of a file

	background sync.WaitGroup
	publishing chan struct{} // closed when publishing the previous version has ended, in success or failure; nil: there was none
	mu         sync.Mutex
	lost       error // a version that could not be published
}

// A writing is one rank's file on its way.
type writing struct {
	label  repair.Label
	cancel context.CancelFunc
	done   chan struct{} // when closed, the fields below are set:
	file   ckptfile.File
	err    error
	took   time.Duration
	all    []ckptfile.File // at rank 0, before a stop: the files of all ranks
}

// newFiles returns nil if the job writes no files.
func newFiles(cfg Files) *files {
	store, where := cfg.Store, "the store"
	if cfg.Dir != "" {
		store, where = checkpoint.Dir(cfg.Dir), cfg.Dir
	}
	if store == nil {
		return nil
	}
	if cfg.Keep <= 0 {
		cfg.Keep = 2
	}
	if cfg.MTBF <= 0 {
		cfg.MTBF = time.Duration(commitinterval.Day)
	}
	if cfg.Job == "" {
		cfg.Job = jobName(os.Args[0])
	}
	if cfg.Arguments == nil {
		cfg.Arguments = os.Args[1:]
	}
	return &files{cfg: cfg, store: store, where: where, pacer: commitinterval.New(mono.Duration(cfg.MTBF), 0), made: time.Now()}
}

// jobName turns the name of a program into a name that a key may contain.
func jobName(program string) string {
	name := strings.Map(func(c rune) rune {
		if checkpoint.CheckKey("x"+string(c)) == nil {
			return c
		}
		return '_'
	}, filepath.Base(program))
	return strings.TrimLeft(strings.TrimSuffix(name, ckptfile.Unfinished), ".-")
}

func (f *files) name(l repair.Label) string { return ckptfile.FolderName(f.cfg.Job, l.Epoch, l.Number) }

// says returns this rank's contribution to the boundary of a commit. With last, all files are
// written by then.
func (f *files) says(last bool) repair.Files {
	if f == nil {
		return repair.FilesDone
	}
	own := f.open.state()
	return f.archive.Says(own, own == repair.WritingNothing && !last && f.due(), last)
}

// state returns the progress of a file; of a nil writing, that there is none.
func (o *writing) state() repair.Writing {
	if o == nil {
		return repair.WritingNothing
	}
	select {
	case <-o.done:
		if o.err != nil {
			return repair.WritingFailed
		}
		return repair.WritingDone
	default:
		return repair.WritingStill
	}
}

func (f *files) due() bool {
	f.since++
	switch {
	case f.begun.IsZero():
		return true
	case f.cfg.Every > 0:
		return f.since >= f.cfg.Every
	}
	return time.Since(f.begun) >= time.Duration(f.pacer.Interval(mono.Time(time.Since(f.made))))
}

// obey carries out the decision of a boundary about files.
func (r *runner) obey(a repair.Return) {
	f := r.files
	if f == nil {
		return
	}
	switch a.Files {
	case repair.FilesBegin:
		r.beginFiles(a.Label)
	case repair.FilesPublish:
		if f.open != nil {
			r.publish(a.Verdict == repair.OverStop)
		}
	case repair.FilesAbandon:
		r.abandon()
	}
}

// beginFiles writes this rank's part of a version in the background.
func (r *runner) beginFiles(l repair.Label) {
	f := r.files
	p := r.mem.find(l).parts[r.w.run.Rank]
	r.mem.pinned = p
	p = r.w.withOwn(p)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.ctx))
	o := &writing{label: l, cancel: cancel, done: make(chan struct{})}
	f.open, f.begun, f.since = o, time.Now(), 0
	head := r.w.head(f.cfg.Job, l, p)
	f.background.Go(func() {
		defer close(o.done)
		o.file, o.err = writeFile(ctx, f.store, head, p)
		o.took = time.Since(f.begun)
	})
}

// writeNow is beginFiles for the last version before a stop. A file that is still open is not
// finished. Rank 0 collects the result of all ranks before the boundary: after the boundary ranks
// leave, and calls that wait for them would fail.
func (r *runner) writeNow(l repair.Label) {
	if r.files == nil {
		return
	}
	r.closeOpen()
	r.beginFiles(l)
	o := r.files.open
	<-o.done
	all, err := collectFiles(r.w, o.file)
	if o.err == nil {
		o.all, o.err = all, err
	}
}

// closeOpen ends the open file, and unpins the part that it reads.
func (r *runner) closeOpen() {
	if o := r.files.open; o != nil {
		o.cancel()
		<-o.done
		r.files.open, r.mem.pinned = nil, nil
	}
}

// abandon discards a version of which some rank has no file.
func (r *runner) abandon() {
	f := r.files
	if o := f.open; o != nil {
		select {
		case <-o.done:
			if o.err != nil {
				r.warnUnwritten(o)
			}
		default: // another rank could not
		}
	}
	r.closeOpen()
}

// warnUnwritten reports a file that this rank cannot write. A repeated text is reported only once
// in a row.
func (r *runner) warnUnwritten(o *writing) {
	f := r.files
	name := f.name(o.label)
	text := fmt.Sprintf("rank %d cannot write %s in %s: %v", r.w.Rank(), name, f.where, o.err)
	if text != f.reported {
		f.reported = text
		r.warn("version not written", attrs(slog.Int("rank", r.w.Rank()), slog.String("version", name), slog.String("files", f.where), logline.Error(o.err)), "%s", text)
	}
}

// publish makes the open version exist, once rank 0 knows the files of all ranks. Publishing must
// end before the job ends.
func (r *runner) publish(last bool) {
	f, o := r.files, r.files.open
	f.pacer.Committed(mono.Duration(time.Since(f.begun)), 1, mono.Duration(o.took))
	r.closeOpen()
	all := o.all
	if !last {
		var err error
		if all, err = collectFiles(r.w, o.file); err != nil { // a rank has died: the attempt is over
			return
		}
	}
	f.archive.Publishes(o.label)
	if all == nil {
		return
	}
	m := ckptfile.Manifest{Job: f.cfg.Job, Epoch: o.label.Epoch, Number: o.label.Number, Arguments: digest(f.cfg.Arguments), Files: all}
	before, over := f.publishing, make(chan struct{})
	f.publishing = over
	f.background.Go(func() {
		defer close(over)
		if before != nil {
			<-before // otherwise the newer version deletes files of the older, which is then published without them
		}
		ctx := context.WithoutCancel(r.ctx)
		if err := publishManifest(ctx, f.store, m); err != nil {
			r.warn("version not published", attrs(slog.String("version", m.Folder()), slog.String("files", f.where), logline.Error(err)),
				"%s in %s cannot be published: %v", m.Folder(), f.where, err)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.lost = err
			return
		}
		if err := f.sweep(ctx, o.label); err != nil {
			r.warn("versions not deleted", attrs(slog.String("files", f.where), logline.Error(err)), "older versions in %s cannot be deleted: %v", f.where, err)
		}
	})
	if last {
		f.background.Wait()
	}
}

// failed returns an error if Files.Must is set and a version could not be published.
func (f *files) failed() error {
	if f == nil || !f.cfg.Must {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost != nil {
		return fmt.Errorf("%w: %w", ErrFiles, f.lost)
	}
	return nil
}

// filesError is the error of Commit if Files.Must is set and some rank has no file.
func (r *runner) filesError(o *writing) error {
	if o != nil && o.err != nil && !errors.Is(o.err, context.Canceled) {
		return fmt.Errorf("%w: rank %d: %w", ErrFiles, r.w.Rank(), o.err)
	}
	return ErrFiles
}

// sweep deletes the versions that are superfluous once a version is published.
func (f *files) sweep(ctx context.Context, newest repair.Label) error {
	all, err := checkpoint.List(ctx, f.store)
	mine := slices.DeleteFunc(all, func(v checkpoint.Version) bool { return v.Job != f.cfg.Job })
	there := make([]repair.Stored, len(mine))
	for i, v := range mine {
		there[i] = stored(v)
	}
	gone := repair.Superfluous(there, newest, f.cfg.Keep)
	for i, v := range mine {
		if slices.Contains(gone, there[i].Label) {
			err = errors.Join(err, checkpoint.Remove(ctx, f.store, v))
		}
	}
	return err
}

// stored is the form in which the rules receive a version.
func stored(v checkpoint.Version) repair.Stored {
	s := repair.Stored{Label: repair.Label{Epoch: v.Epoch, Number: v.Number}}
	switch {
	case v.Err == nil:
		s.State = repair.Published
	case errors.Is(v.Err, checkpoint.ErrIncomplete):
		s.State = repair.Unpublished
	case errors.Is(v.Err, checkpoint.ErrForeign), errors.Is(v.Err, checkpoint.ErrFormat):
		s.State = repair.Foreign
	default:
		s.State = repair.Damaged
	}
	return s
}

// spoiled notes that a version must not be restored.
func (f *files) spoiled(l repair.Label) {
	if f != nil {
		f.archive.Spoiled(l)
	}
}

// endFiles waits for the version that is being published, and ends the file that is being written.
func (r *runner) endFiles() {
	if r.files != nil {
		r.closeOpen()
		r.files.background.Wait()
		r.files.unclaim()
	}
}
