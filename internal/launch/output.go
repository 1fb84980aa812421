package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/goulfm/goulfm/internal/orders"
)

// An outlet is where whole lines go: ranks never interleave inside a line. What cannot be
// written is lost; failed is told so, once.
type outlet struct {
	mu     sync.Mutex
	w      io.Writer
	file   *os.File // w, if it is this outlet's own; else nil
	name   string
	failed func(error)
	told   bool
}

func (o *outlet) write(b []byte) {
	o.mu.Lock()
	_, err := o.w.Write(b)
	o.mu.Unlock()
	o.note(err)
}

// close comes after the last write. A disk may say only now that it is full.
func (o *outlet) close() {
	if o.file != nil {
		o.note(o.file.Close())
	}
}

func (o *outlet) note(err error) {
	o.mu.Lock()
	first := err != nil && !o.told
	o.told = o.told || err != nil
	o.mu.Unlock()
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // o.name says more
	}
	if first && o.failed != nil {
		o.failed(fmt.Errorf("%s: %w", o.name, err))
	}
}

// lines are those of one stream of a rank, each with what begins it; prefix nil: nothing does.
type lines struct {
	*outlet
	prefix func() string
}

// Write passes on whole lines.
func (l lines) Write(b []byte) { l.outlet.write(prefixed(b, l.prefix)) }

// Close comes after the last line.
func (l lines) Close() { l.outlet.close() }

func prefixed(lines []byte, prefix func() string) []byte {
	if prefix == nil {
		return lines
	}
	var out []byte
	for line := range bytes.Lines(lines) {
		out = append(append(out, prefix()...), line...)
	}
	return out
}

// prefixOf returns what begins each line of a rank; nil: nothing does.
func (s *Spec) prefixOf(rank int, start time.Time) func() string {
	switch {
	case s.Tag && s.Timestamp:
		return func() string { return fmt.Sprintf("[%d %.3fs] ", rank, time.Since(start).Seconds()) }
	case s.Tag:
		text := fmt.Sprintf("[%d] ", rank)
		return func() string { return text }
	case s.Timestamp:
		return func() string { return fmt.Sprintf("[%.3fs] ", time.Since(start).Seconds()) }
	}
	return nil
}

// A sink is where the ranks' two streams go.
type sink struct {
	dir            string // files of each rank there; else
	appends        bool
	begun          map[string]bool // files that this job has made: who has a rank's seat after it goes on with its file
	stdout, stderr *outlet
	failed         func(error)
}

// sink returns where ranks' streams go; failed is told of what cannot be written.
func (s *Spec) sink(stderr *outlet, failed func(error)) sink {
	if s.Hosts.Survive { // the nodes write it
		nowhere := &outlet{w: io.Discard}
		return sink{stdout: nowhere, stderr: nowhere}
	}
	return sink{dir: s.OutputDir, appends: s.appends, begun: map[string]bool{}, stdout: &outlet{w: s.Stdout, name: "standard output", failed: failed}, stderr: stderr, failed: failed}
}

// of returns where the two streams of a rank go.
func (s sink) of(rank int) (out, errs *outlet, err error) {
	if s.dir == "" {
		return s.stdout, s.stderr, nil
	}
	if out, err = s.create(rank, false); err != nil {
		return nil, nil, err
	}
	if errs, err = s.create(rank, true); err != nil {
		out.close()
		return nil, nil, err
	}
	return out, errs, nil
}

func (s sink) create(rank int, errs bool) (*outlet, error) {
	name := orders.OutputFile(s.dir, rank, errs)
	how := os.O_TRUNC
	if s.appends || s.begun[name] {
		how = os.O_APPEND
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|how, 0o666)
	if err != nil {
		return nil, err
	}
	s.begun[name] = true
	return &outlet{w: f, file: f, name: name, failed: s.failed}, nil
}
