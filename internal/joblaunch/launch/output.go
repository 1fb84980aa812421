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

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
)

// An outlet is a destination of streams: of ranks and of the event log. Output that cannot be
// written is lost; the first error is passed to failed.
type outlet struct {
	mu     sync.Mutex
	w      io.Writer
	file   *os.File // w, if w is this outlet's own; else nil
	name   string
	failed func(error)
	told   bool
	open   *lines    // the stream with an unfinished line; nil: none
	at     time.Time // of the last write
}

// writeLine writes whole lines of the launcher. They begin at the start of a line.
func (o *outlet) writeLine(b []byte) {
	o.mu.Lock()
	if o.open != nil {
		b = append([]byte("\n"), b...)
	}
	err := o.put(nil, b)
	o.mu.Unlock()
	o.note(err)
}

// put writes bytes of a stream, or of the launcher (from nil). The caller holds mu.
func (o *outlet) put(from *lines, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	o.open, o.at = from, time.Now()
	if b[len(b)-1] == '\n' {
		o.open = nil
	}
	_, err := o.w.Write(b)
	return err
}

// close comes after the last write. A full disk may cause an error only here.
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
		err = path.Err // o.name has the full name
	}
	if first && o.failed != nil {
		o.failed(fmt.Errorf("%s: %w", o.name, err))
	}
}

// lines is one stream of a rank. Its bytes arrive unchanged, and as whole lines, so that ranks do
// not interleave inside a line. An unfinished line, such as a prompt, waits until the outlet was at
// rest for partAfter. With a prefix, a line that other streams have interrupted continues in a line
// of its own.
type lines struct {
	*outlet
	prefix func() string // returns the prefix of each line; nil: none

	// Under the outlet's mu:
	pending []byte // of a line that has not ended
	timer   *time.Timer
}

const (
	partAfter = 100 * time.Millisecond
	partMax   = 1 << 20 // the size of an unfinished line that is written without its end
)

// Write takes the next piece.
func (l *lines) Write(piece []byte) {
	l.mu.Lock()
	before := len(l.pending)
	l.pending = append(l.pending, piece...)
	whole := bytes.LastIndexByte(l.pending, '\n') + 1
	if l.file != nil || len(l.pending)-whole > partMax { // no other rank writes to the file
		whole = len(l.pending)
	}
	err := l.pass(whole)
	if rest := len(l.pending); rest > 0 && (before == 0 || whole > 0) {
		l.await(partAfter)
	}
	l.mu.Unlock()
	l.note(err)
}

// pass writes the first n waiting bytes. The caller holds mu.
func (l *lines) pass(n int) error {
	err := l.put(l, l.prefixed(l.pending[:n]))
	l.pending = append(l.pending[:0], l.pending[n:]...)
	return err
}

// await schedules a call of passPart. The caller holds mu.
func (l *lines) await(d time.Duration) {
	if l.timer != nil {
		l.timer.Reset(d)
		return
	}
	l.timer = time.AfterFunc(d, l.passPart)
}

// passPart writes an unfinished line, unless other streams write just now.
func (l *lines) passPart() {
	l.mu.Lock()
	var err error
	if rest := partAfter - time.Since(l.at); len(l.pending) > 0 && rest > 0 {
		l.await(rest)
	} else {
		err = l.pass(len(l.pending))
	}
	l.mu.Unlock()
	l.note(err)
}

// Close comes after the last piece.
func (l *lines) Close() {
	l.mu.Lock()
	if l.timer != nil {
		l.timer.Stop()
	}
	err := l.pass(len(l.pending))
	l.mu.Unlock()
	l.note(err)
	l.outlet.close()
}

// prefixed adds the prefix to each line. The caller holds mu.
func (l *lines) prefixed(text []byte) []byte {
	if l.prefix == nil {
		return text
	}
	var out []byte
	open := l.outlet.open
	for line := range bytes.Lines(text) {
		switch open {
		case nil:
			out = append(out, l.prefix()...)
		case l:
		default:
			out = append(append(out, '\n'), l.prefix()...)
		}
		out, open = append(out, line...), nil
	}
	return out
}

// prefixOf returns the prefix of each line of a rank; nil: none.
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

// A sink is the destination of the ranks' two streams.
type sink struct {
	dir            string // of the files of each rank; "": the two outlets
	appends        bool
	begun          map[string]bool // files that this job has made: a replacement appends to the file of its rank
	stdout, stderr *outlet
	failed         func(error)
}

// sink returns the destination of ranks' streams; errors of writing are passed to failed.
func (s *Spec) sink(stderr *outlet, failed func(error)) sink {
	if s.Hosts.Survive { // the nodes write the output
		nowhere := &outlet{w: io.Discard}
		return sink{stdout: nowhere, stderr: nowhere}
	}
	return sink{dir: s.OutputDir, appends: s.appends, begun: map[string]bool{}, stdout: &outlet{w: s.Stdout, name: "standard output", failed: failed}, stderr: stderr, failed: failed}
}

// of returns the destinations of the two streams of a rank.
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
	name := daemonproto.OutputFile(s.dir, rank, errs)
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
