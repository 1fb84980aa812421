package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// oursName is our name among the contenders.
const oursName = "goulfm"

// A contender is a library that can run a task.
type contender struct {
	name    string
	first   bool // the reference: the first peer of the description
	twin    bool // the cgo twin of a peer: measured, but nobody's target
	version string
	// command gives the command line for a task, false if the contender cannot run the task.
	command func(t task) ([]string, bool)
}

// A driver runs tasks of all contenders.
type driver struct {
	options
	root       string
	progress   io.Writer
	contenders []*contender // ours first, then the reference
	notes      []string
	temps      []string
}

func (d *driver) close() {
	for _, dir := range d.temps {
		os.RemoveAll(dir)
	}
}

// note reports a missing measurement on the terminal and in the results; err, which may name
// folders of this machine, is for the terminal alone.
func (d *driver) note(line string, err error) {
	fmt.Fprintf(d.progress, "compare: %s: %v\n", line, err)
	if !slices.Contains(d.notes, line) {
		d.notes = append(d.notes, line)
	}
}

func (d *driver) temp() (string, error) {
	dir, err := os.MkdirTemp("", "goulfm-compare-")
	d.temps = append(d.temps, dir)
	return dir, err
}

// prepare builds ours and the peers' programs.
func (d *driver) prepare(ctx context.Context, specs []spec) error {
	dir, err := d.temp()
	if err != nil {
		return err
	}
	bin, err := job.Build(ctx, dir)
	if err != nil {
		return err
	}
	d.contenders = []*contender{{name: oursName, version: "this tree", command: func(t task) ([]string, bool) { return ours(bin, t), true }}}
	for _, s := range specs {
		if err := d.preparePeer(ctx, s); err != nil {
			return err
		}
	}
	if slices.Contains(d.only, overTCP) {
		d.contenders = append(d.contenders, &contender{name: oursName + "-tls", twin: true, version: "this tree, encrypted", command: func(t task) ([]string, bool) {
			return bin.Command(t.program(), t.n, flagsOf(t, "tls"), t.args), t.suite == overTCP
		}})
	}
	return nil
}

// ours is the command line of our program for a task.
func ours(bin job.Bin, t task) []string {
	if t.suite == "start" {
		return bin.Command(t.program(), t.n, nil, []string{"-rank"})
	}
	return bin.Command(t.program(), t.n, flagsOf(t, "auth"), t.args)
}

// flagsOf are the flags of goulfm run: over TCP each rank is a node.
func flagsOf(t task, secure string) []string {
	if t.suite != overTCP {
		return nil
	}
	return []string{"--host", strconv.Itoa(t.n), "--ppn", "1", "--secure", secure}
}

func (d *driver) preparePeer(ctx context.Context, s spec) error {
	if s.Dir == "" {
		dir, err := d.temp()
		if err != nil {
			return err
		}
		s.Dir, s.Inside = dir, dir
	}
	if err := copySources(filepath.Join(d.root, "bench", "peers"), s.Dir); err != nil {
		return err
	}
	made := map[string]bool{}
	for _, t := range tasks(d.options) {
		p := t.peerProgram()
		if _, tried := made[p]; tried || !s.takesPart(t) {
			continue
		}
		err := d.shell(ctx, s.compile(p))
		if made[p] = err == nil; err != nil {
			d.note(fmt.Sprintf("%s in suite %s: %s.c does not compile", s.Name, t.suite, p), err)
		}
	}
	d.contenders = append(d.contenders, &contender{name: s.Name, first: len(d.contenders) == 1, version: version(ctx, s), command: func(t task) ([]string, bool) {
		return []string{"sh", "-c", s.run(t, s.inside(t.peerProgram()))}, made[t.peerProgram()] && s.takesPart(t)
	}})
	if s.Cgo != "" && slices.Contains(d.only, "p2p") {
		d.prepareCgo(ctx, s)
	}
	return nil
}

// inside is a program's path as the peer sees its own folder. Two peers may share the folder.
func (s spec) inside(program string) string { return filepath.Join(s.Inside, program+"."+s.Name) }

func (d *driver) prepareCgo(ctx context.Context, s spec) {
	pkg, out := filepath.Join(d.root, "bench", "peers", "cgo"), filepath.Join(s.Dir, "cgo."+s.Name)
	if err := d.shell(ctx, s.cgo(pkg, out)); err != nil {
		d.note(fmt.Sprintf("the cgo twin of %s: it does not build", s.Name), err)
		return
	}
	d.contenders = append(d.contenders, &contender{name: s.Name + "-cgo", twin: true, version: "the same, called from Go through cgo",
		command: func(t task) ([]string, bool) {
			return []string{"sh", "-c", s.run(t, s.inside("cgo"))}, t.suite == "p2p"
		}})
}

func (d *driver) shell(ctx context.Context, command string) error {
	_, err := job.Run(ctx, 5*time.Minute, []string{"sh", "-c", command})
	return err
}

// copySources copies the C sources to the peer's folder.
func copySources(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(from, "*.[ch]"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no C sources in %s", from)
	}
	for _, f := range files {
		data, readErr := os.ReadFile(f)
		if readErr != nil {
			return readErr
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(f)), data, 0o644); err != nil {
			return err
		}
	}
	return err
}

func (d *driver) someoneToCompareWith() bool {
	return slices.ContainsFunc(d.contenders[1:], func(c *contender) bool {
		return slices.ContainsFunc(tasks(d.options), func(t task) bool {
			_, able := c.command(t)
			return able
		})
	})
}

// measureAll runs tasks, each with its rounds, and returns the rows.
func (d *driver) measureAll(ctx context.Context, ts []task) (*results, error) {
	r := &results{About: d.about(ctx)}
	for _, t := range ts {
		m, err := d.measure(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, row := range m.rows(r.About.Date) {
			row.Code = r.About.Code
			r.Rows = append(r.Rows, row)
		}
	}
	r.Notes = d.notes
	return r, nil
}

// measure lets the contenders take turns. A contender that fails once is left out of the task,
// unless it is goulfm.
func (d *driver) measure(ctx context.Context, t task) (*measured, error) {
	m := newMeasured(t)
	for _, c := range d.contenders {
		if _, able := c.command(t); able {
			m.contenders = append(m.contenders, c)
		}
	}
	for round := range d.rounds {
		fmt.Fprintf(d.progress, "compare: %s, %d ranks, round %d of %d\n", t, t.n, round+1, d.rounds)
		for _, c := range slices.Clone(m.contenders) {
			argv, _ := c.command(t)
			res, err := job.Run(ctx, d.limit, argv)
			records, err := settle(t, res, err)
			if err == nil {
				m.add(c.name, d.correct(c.name, records))
				continue
			}
			if ctx.Err() != nil || c.name == oursName {
				return nil, fmt.Errorf("%s with %d ranks: %w", t, t.n, err)
			}
			d.note(fmt.Sprintf("%s in suite %s with %d ranks: it failed", c.name, t, t.n), err)
			m.drop(c)
		}
	}
	return m, nil
}

// correct returns the records without the ones that their program reports as wrong, and adds a note
// for each. A row that lacks a round of a peer lacks the peer.
func (d *driver) correct(name string, records []record.Record) []record.Record {
	var some []record.Record
	for _, r := range records {
		if r.Wrong == "" {
			some = append(some, r)
			continue
		}
		d.note(fmt.Sprintf("%s in row %s: the result is wrong", name, key{r.Bench, r.N, r.Size}.name()), errors.New(r.Wrong))
	}
	return some
}

// settle returns the records of a job. The figure of a job of the suite start is its duration. A
// launcher may report that a job in which a rank was killed has failed; if the survivors reached
// the last phase, the job counts as a success.
func settle(t task, res job.Result, err error) ([]record.Record, error) {
	last := len(res.Records) - 1
	switch {
	case t.program() == "ulfm" && last >= 0 && res.Records[last].Bench == lastPhase:
		return named(t, res.Records), nil
	case err != nil:
		return nil, err
	case t.suite == "start":
		return []record.Record{{Bench: "start", N: t.n, Unit: record.Millis, Batches: []float64{res.Took.Seconds() * 1e3}}}, nil
	case len(res.Records) == 0:
		return nil, errors.New("it printed no record")
	}
	return named(t, res.Records), nil
}

// named are records with the names of the task's suite.
func named(t task, records []record.Record) []record.Record {
	prefix := prefixOf(t.suite)
	if prefix == "" {
		return records
	}
	records = slices.Clone(records)
	for i := range records {
		records[i].Bench = prefix + records[i].Bench
	}
	return records
}

// lastPhase is the last measurement of the program that kills a rank.
const lastPhase = "revoke"
