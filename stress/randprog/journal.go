package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// A record is a line of a rank's log.
type record struct {
	T     int64  // when, in ns
	What  string // one of the constants below
	Step  string `json:",omitempty"`
	Op    string `json:",omitempty"`
	Comm  string `json:",omitempty"` // its name in the program
	From  string `json:",omitempty"` // of a creation: the parent
	Out   string `json:",omitempty"` // the outcome, if it must be the same at all members
	Err   string `json:",omitempty"`
	Class string `json:",omitempty"` // of the error
	Procs []int  `json:",omitempty"` // the processes in an error; of a communicator: its members
}

const (
	recBegin  = "begin"  // of a step
	recEnd    = "end"    // of a step
	recMember = "member" // of a communicator, with its members
	recRevoke = "revoke" // is about to revoke
	recDie    = "die"    // is about to die
	recFenced = "fenced" // learns that it was declared dead
	recWrong  = "wrong"  // a property is violated
	recNote   = "note"
	recOver   = "over" // reached the end of the program
)

// Classes of errors.
const (
	classFailed  = "failed"
	classPending = "pending"
	classRevoked = "revoked"
	classFenced  = "fenced"
	classContext = "context"
	classOther   = "other"
)

// A journal stores the log of one rank. Records outlive the rank.
type journal struct {
	mu   sync.Mutex
	file *os.File // nil: in memory
	all  []record
}

// openJournal opens the journal of a process.
func openJournal(dir string, proc int) (*journal, error) {
	f, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(proc)+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return &journal{file: f}, err
}

func (j *journal) put(r record) {
	r.T = time.Now().UnixNano()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		j.all = append(j.all, r)
		return
	}
	line, _ := json.Marshal(r)
	_, _ = j.file.Write(append(line, '\n')) // one write: a death leaves the whole line or nothing
}

func (j *journal) records() []record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.all)
}

// logs are the records of a round by process.
type logs map[int][]record

// readLogs reads the logs of the processes of a round.
func readLogs(dir string) (logs, error) {
	all := logs{}
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		proc, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), ".log"))
		if err != nil {
			return nil, err
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		all[proc] = nil
		for s := bufio.NewScanner(f); s.Scan(); {
			var r record
			if json.Unmarshal(s.Bytes(), &r) == nil {
				all[proc] = append(all[proc], r)
			}
		}
		f.Close()
	}
	return all, nil
}

func (l logs) procs() []int { return slices.Sorted(maps.Keys(l)) }

// String returns the transcript of a round, with the records of all ranks in order of time.
func (l logs) String() string {
	type line struct {
		record
		proc int
	}
	var lines []line
	for proc, records := range l {
		for _, r := range records {
			lines = append(lines, line{r, proc})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.T, b.T) })
	var b strings.Builder
	for _, n := range lines {
		fmt.Fprintf(&b, "%10.3fms  %2d  %s\n", float64(n.T-lines[0].T)/1e6, n.proc, n.record)
	}
	return b.String()
}

func (r record) String() string {
	s := r.What
	for _, part := range []struct{ name, text string }{{"", r.Step}, {"", r.Op}, {"on ", r.Comm}, {"from ", r.From}, {"=> ", r.Out}, {"", r.Class}, {"error: ", r.Err}} {
		if part.text != "" {
			s += "  " + part.name + part.text
		}
	}
	if r.Procs != nil {
		s += fmt.Sprintf("  processes %v", r.Procs)
	}
	return s
}

// classify returns the class of an error.
func classify(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, comm.ErrFenced):
		return classFenced
	case errors.Is(err, errContext):
		return classContext
	case errors.Is(err, ulfm.ErrRevoked):
		return classRevoked
	case errors.Is(err, ulfm.ErrProcFailedPending):
		return classPending
	case errors.Is(err, ulfm.ErrProcFailed):
		return classFailed
	}
	return classOther
}

// namedRanks returns the ranks that an error names.
func namedRanks(err error) (ranks []int) {
	switch e := err.(type) { //nolint:errorlint // walks the tree of wrapped errors itself
	case nil:
	case *ulfm.Error:
		return e.Ranks
	case interface{ Unwrap() []error }:
		for _, x := range e.Unwrap() {
			ranks = append(ranks, namedRanks(x)...)
		}
	case interface{ Unwrap() error }:
		return namedRanks(e.Unwrap())
	}
	return ranks
}
