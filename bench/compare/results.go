package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/machine"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// A book is the contents of results.json: figures of different processors are never in one table.
type book struct {
	Processors []*results `json:"processors"`
}

// results are the figures of one model of processor.
type results struct {
	About About    `json:"about"` // the last run
	Notes []string `json:"notes,omitempty"`
	Rows  []Row    `json:"rows"`
}

// About records where and how a comparison was made.
type About struct {
	Date    string `json:"date"`
	Machine string `json:"machine"`
	Cores   int    `json:"cores"`
	Kernel  string `json:"kernel"`
	Load    string `json:"load"` // average of the minute before: other programs falsify figures
	Go      string `json:"go"`
	Code    string `json:"code"` // commit, with "-dirty" if there were changes
	Command string `json:"command"`
	Peers   []Peer `json:"peers"` // the reference first
}

// A Peer is a library with its version.
type Peer struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Twin    bool   `json:"twin,omitempty"` // a cgo twin
}

// A Row is one operation at one number of ranks and one size.
type Row struct {
	Bench  string            `json:"bench"`
	N      int               `json:"n"`
	Size   int               `json:"size"`
	Unit   string            `json:"unit"`
	Date   string            `json:"date"`
	Code   string            `json:"code"` // as in About
	Rounds int               `json:"rounds"`
	Ours   record.Summary    `json:"ours"` // over the batches of all rounds
	Peers  map[string]Versus `json:"peers"`
	Target *Verdict          `json:"target,omitempty"`
}

func (r Row) key() key { return key{r.Bench, r.N, r.Size} }

// Versus is a peer's figures, and ours divided by them.
type Versus struct {
	record.Summary
	Ratio float64 `json:"ratio"` // median of the rounds
	Low   float64 `json:"low"`   // quartiles of the rounds
	High  float64 `json:"high"`
}

// A Verdict is a target and the value that was reached.
type Verdict struct {
	target
	Value float64 `json:"value"`
	Met   bool    `json:"met"`
}

const (
	jsonName  = "results.json"
	tableName = "RESULTS.md"
)

// load reads the recorded results: none if there is no file.
func load(dir string) (*book, error) {
	b := new(book)
	data, err := os.ReadFile(filepath.Join(dir, jsonName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return b, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("%s: %w", jsonName, err)
	}
	return b, nil
}

func (b *book) save(dir string) error {
	data, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, jsonName), append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, tableName), []byte(b.markdown()), 0o644)
}

// add puts the rows of a run into the table of its processor, each in the place of its older row.
// The tables of other processors stay.
func (b *book) add(run *results) {
	same := func(r *results) bool { return r.About.Machine == run.About.Machine && r.About.Cores == run.About.Cores }
	if i := slices.IndexFunc(b.Processors, same); i >= 0 {
		b.Processors[i] = run.merge(b.Processors[i])
		return
	}
	b.Processors = append(b.Processors, run)
}

// merge keeps the old rows that were not measured again. The rows stay in the old order, new ones
// follow.
func (r *results) merge(old *results) *results {
	merged := *r
	merged.Rows = slices.Clone(old.Rows)
	for _, row := range r.Rows {
		if i := indexOf(merged.Rows, row.key()); i >= 0 {
			merged.Rows[i] = row
		} else {
			merged.Rows = append(merged.Rows, row)
		}
	}
	for _, p := range old.About.Peers {
		if !slices.ContainsFunc(merged.About.Peers, func(q Peer) bool { return q.Name == p.Name }) {
			merged.About.Peers = append(merged.About.Peers, p)
		}
	}
	return &merged
}

func indexOf(rows []Row, k key) int {
	return slices.IndexFunc(rows, func(r Row) bool { return r.key() == k })
}

func (d *driver) about(ctx context.Context) About {
	a := About{
		Date:    time.Now().UTC().Format("2006-01-02"),
		Machine: machine.Processor(),
		Cores:   runtime.NumCPU(),
		Kernel:  machine.Kernel(),
		Load:    machine.Load(),
		Go:      runtime.Version(),
		Code:    machine.FirstLine(exec.CommandContext(ctx, "git", "-C", d.root, "describe", "--always", "--dirty").Output()),
		Command: command(d.options),
	}
	for _, c := range d.contenders[1:] {
		a.Peers = append(a.Peers, Peer{c.name, c.version, c.twin})
	}
	return a
}

// command is the command line of the run without the options of this machine: the paths of the
// peers.
func command(o options) string {
	c := "go run ./bench/compare"
	if o.quick {
		c += " -quick"
	}
	c += " -only " + strings.Join(o.only, ",")
	if slices.Contains(o.only, everyColl) && len(o.verbs) < len(verbs) {
		c += " -verbs " + strings.Join(o.verbs, ",")
	}
	c += " -n "
	for i, n := range o.counts {
		if i > 0 {
			c += ","
		}
		c += fmt.Sprint(n)
	}
	return c + fmt.Sprintf(" -rounds %d", o.rounds)
}

// version asks a peer for its version.
func version(ctx context.Context, s spec) string {
	if s.Version == "" {
		return "not told"
	}
	return machine.FirstLine(exec.CommandContext(ctx, "sh", "-c", s.Version).Output())
}
