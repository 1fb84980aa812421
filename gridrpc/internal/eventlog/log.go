// Package eventlog reads the event log of "gridrpc up", for tests and measurements that start
// platforms of real processes.
package eventlog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Serving is in the line that reports that a platform answers calls.
const Serving = "serving in"

// pidLine reports the start of a process, possibly on another machine.
var pidLine = regexp.MustCompile(`(\S+) is process (\d+)(?: at \S+)?$`)

// Log is the text of a log so far. Its methods may be called by any goroutine.
type Log struct {
	mu      sync.Mutex
	changed *sync.Cond
	lines   int
	text    bytes.Buffer
	pids    map[string]int // of the latest incarnation, by name
}

// New returns an empty log.
func New() *Log {
	l := &Log{pids: map[string]int{}}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// Read adds lines until the end of the input. It calls each, unless each is nil, with every line.
// Several inputs may be read at the same time.
func (l *Log) Read(from io.Reader, each func(line string)) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		l.add(lines.Text())
		if each != nil {
			each(lines.Text())
		}
	}
}

func (l *Log) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines++
	fmt.Fprintln(&l.text, line)
	if m := pidLine.FindStringSubmatch(line); m != nil {
		l.pids[m[1]], _ = strconv.Atoi(m[2])
	}
	l.changed.Broadcast()
}

// PID returns the number of the latest process with a name, or 0.
func (l *Log) PID(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pids[name]
}

// PIDs returns the numbers of the latest processes of all names.
func (l *Log) PIDs() (all []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, pid := range l.pids {
		all = append(all, pid)
	}
	return all
}

// String returns the text so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Reset removes the text. The processes stay known.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}

// Until waits until holds returns true, which is called again after each change of the log. It
// reports whether that happened in time.
func (l *Log) Until(within time.Duration, holds func() bool) bool {
	late := false
	timer := time.AfterFunc(within, func() { l.mu.Lock(); late = true; l.changed.Broadcast(); l.mu.Unlock() })
	defer timer.Stop()
	for {
		l.mu.Lock()
		seen := l.lines
		l.mu.Unlock()
		if holds() {
			return true
		}
		l.mu.Lock()
		for l.lines == seen && !late {
			l.changed.Wait()
		}
		over := late && l.lines == seen
		l.mu.Unlock()
		if over {
			return false
		}
	}
}
