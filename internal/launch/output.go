package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// An outlet is where whole lines go: ranks never interleave inside a line.
type outlet struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *outlet) write(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = o.w.Write(b)
}

// lineMax is how long a line may get before a part of it is passed on as a line.
const lineMax = 1 << 20

// carry copies what one rank prints to an outlet, line by line, until the rank
// and all its children have closed it.
func carry(r io.Reader, o *outlet, prefix func() string) {
	buf, pending := make([]byte, 32<<10), []byte(nil)
	for {
		n, err := r.Read(buf)
		pending = append(pending, buf[:n]...)
		if end := bytes.LastIndexByte(pending, '\n'); end >= 0 {
			o.write(prefixed(pending[:end+1], prefix))
			pending = append(pending[:0], pending[end+1:]...)
		}
		if len(pending) > lineMax || err != nil && len(pending) > 0 {
			o.write(prefixed(append(pending, '\n'), prefix))
			pending = pending[:0]
		}
		if err != nil {
			return
		}
	}
}

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

// outlets returns where the ranks' two streams go.
func (s *Spec) outlets() (func(rank int) (out, err *outlet, e error), func()) {
	if s.OutputDir == "" {
		stdout, stderr := &outlet{w: s.Stdout}, &outlet{w: s.Stderr}
		return func(int) (*outlet, *outlet, error) { return stdout, stderr, nil }, func() {}
	}
	var files []*os.File
	open := func(rank int, suffix string) (*outlet, error) {
		f, err := os.Create(filepath.Join(s.OutputDir, fmt.Sprintf("rank.%d.%s", rank, suffix)))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		return &outlet{w: f}, nil
	}
	return func(rank int) (*outlet, *outlet, error) {
			out, err := open(rank, "out")
			if err != nil {
				return nil, nil, err
			}
			errs, err := open(rank, "err")
			return out, errs, err
		}, func() {
			for _, f := range files {
				f.Close()
			}
		}
}
