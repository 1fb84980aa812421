package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/grid"
)

// A row is one figure: an operation at one number of ranks and one size.
type row struct {
	bench   string // with the prefix of its family
	n, size int
}

func (r row) String() string {
	if r.size == 0 {
		return fmt.Sprintf("%s, %d ranks", r.bench, r.n)
	}
	return fmt.Sprintf("%s, %d ranks, %s", r.bench, r.n, grid.Size(r.size))
}

// A family is the rows that one job measures.
type family struct {
	group   string // of -only
	prefix  string // of the names of its rows; their rest is the name that the program prints
	program string // its path in this tree, and the arguments that choose a command of it
	n       int
	flags   []string // of goulfm run
	args    []string // of the program
	listed  bool     // the program takes -ops and -sizes
	jobs    int      // in a turn
	read    reader
	rows    []row
	gate    bool // -short has it
}

// A reader is the source of the figures of a job.
type reader int

const (
	printed reader = iota // records, one line of JSON each
	life                  // the time from the start of the job to its end
	valued                // the program is a driver, which writes a file of values
)

func (f family) String() string {
	return fmt.Sprintf("%s, %d ranks", f.group, f.n)
}

// bare is the name that the program of the family has for a row.
func (f family) bare(r row) string { return strings.TrimPrefix(r.bench, f.prefix) }

// rowsOf makes rows of each operation with each size.
func (f family) rowsOf(ops string, sizes ...int) (rows []row) {
	if len(sizes) == 0 {
		sizes = []int{0}
	}
	for _, op := range strings.Fields(ops) {
		for _, size := range sizes {
			rows = append(rows, row{f.prefix + op, f.n, size})
		}
	}
	return rows
}

const kib, mib = 1 << 10, 1 << 20

// The arguments for a turn of each kind of job.
var (
	batches = strings.Fields("-json -batches 15 -time 60ms") // of each row
	deaths  = strings.Fields("-json -batches 5 -lead 100ms")
	fourFar = strings.Fields("--host 4 --ppn 1")
)

// The phases of a failure, as bench/measure ulfm names them.
const phases = "agree detect agree_detecting ack_agree shrink revoke"

// commitTimes is the number of commits of a rank in a turn. commitBytes is the size of the
// protected data.
const commitTimes, commitBytes = 20, mib

// repairs is the number of ranks that die in a turn, one after the other.
const repairs = 5

// all are the families in the order of the table.
func all() (fs []family) {
	add := func(f family, rows ...[]row) {
		f.rows, f.jobs = slices.Concat(rows...), max(f.jobs, 1)
		fs = append(fs, f)
	}
	p2p := family{group: "p2p", program: "bench/measure p2p", n: 2, args: batches, listed: true, jobs: 3, gate: true}
	add(p2p, p2p.rowsOf("latency", 8, 64, kib, 16*kib, 64*kib, mib))
	p2p.gate = false
	add(p2p, p2p.rowsOf("bandwidth", 4*kib, 64*kib, mib), p2p.rowsOf("rate", 8))
	for _, n := range []int{2, 8} {
		coll := family{group: "coll", program: "bench/measure coll", n: n, args: batches, listed: true}
		add(coll, coll.rowsOf("barrier"), coll.rowsOf("bcast allreduce alltoall", 8, 64*kib))
	}
	for _, n := range []int{4, 8, 16} {
		ulfm := family{group: "ulfm", program: "bench/measure ulfm", n: n, args: deaths, jobs: 3, gate: n < 16}
		add(ulfm, ulfm.rowsOf(phases))
	}
	far := family{group: "nodes", prefix: "nodes_", program: "bench/measure ulfm", n: 4, flags: fourFar, args: deaths, jobs: 3, gate: true}
	add(far, far.rowsOf(phases))
	for _, n := range []int{2, 16} {
		start := family{group: "start", program: "bench/measure start", n: n, args: []string{"-rank"}, jobs: 5, read: life}
		add(start, start.rowsOf("start"))
	}
	commit := family{group: "recovery", prefix: "recovery_", program: "bench/recovery", n: 4,
		args: []string{"-rank", "commit", "-times", strconv.Itoa(commitTimes), "-bytes", strconv.Itoa(commitBytes)}}
	add(commit, commit.rowsOf("commit", commitBytes))
	repair := family{group: "recovery", prefix: "recovery_", program: "bench/recovery", n: 4, read: valued,
		args: []string{"-quick", "-only", "warm", "-rounds", strconv.Itoa(repairs)}}
	add(repair, repair.rowsOf("repair"))
	rma := family{group: "rma", prefix: "rma_", program: "bench/measure rma", n: 2, args: batches, listed: true, jobs: 3}
	add(rma, rma.rowsOf("put get", 8, 64*kib), rma.rowsOf("lock"))
	return fs
}

// families are those that the flags choose, with the chosen rows.
func (o options) families() (some []family) {
	for _, f := range all() {
		if o.short && !f.gate || o.counts != nil && !slices.Contains(o.counts, f.n) {
			continue
		}
		if f.keep(func(r row) bool { return o.selects(f, r) }); len(f.rows) > 0 {
			some = append(some, f)
		}
	}
	return some
}

// gateSizes are those of the latencies that the gate has.
var gateSizes = []int{8, 16 * kib, mib}

func (o options) selects(f family, r row) bool {
	if o.short && f.group == "p2p" && !slices.Contains(gateSizes, r.size) {
		return false
	}
	names := []string{f.group, r.bench, f.bare(r)}
	return o.only == nil || slices.ContainsFunc(o.only, func(word string) bool { return slices.Contains(names, word) })
}

// keep leaves the rows for which want is true.
func (f *family) keep(want func(row) bool) {
	f.rows = slices.DeleteFunc(slices.Clone(f.rows), func(r row) bool { return !want(r) })
}

// command are the arguments for the program: the operations and sizes of the rows, where it takes
// them.
func (f family) command() []string {
	if !f.listed {
		return f.args
	}
	var ops, sizes []string
	for _, r := range f.rows {
		if op := f.bare(r); !slices.Contains(ops, op) {
			ops = append(ops, op)
		}
		if size := strconv.Itoa(max(r.size, 8)); !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	return append([]string{"-ops", strings.Join(ops, ","), "-sizes", strings.Join(sizes, ",")}, f.args...)
}

// words returns the names that -only accepts.
func words() (names []string) {
	for _, f := range all() {
		for _, r := range f.rows {
			for _, name := range []string{f.group, r.bench, f.bare(r)} {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

func known(word string) bool { return slices.Contains(words(), word) }
