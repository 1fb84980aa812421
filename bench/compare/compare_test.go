package main

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

func noEnv(string) string { return "" }

func TestParse(t *testing.T) {
	o, err := parse(nil, noEnv)
	if err != nil || o.rounds != 11 || o.quick || !slices.Equal(o.counts, []int{2, 8, 16, 64}) || !slices.Equal(o.only, suites) || !slices.Equal(o.verbs, verbs) {
		t.Errorf("%+v %v", o, err)
	}
	o, err = parse([]string{"-quick", "-only", "coll", "-n", "2", "-peer", "a=cc:run -x"}, func(name string) string {
		return map[string]string{"MPICC": "mpicc", "MPIRUN": "mpirun", "GOULFM_PEERS": "peers.json"}[name]
	})
	if err != nil || o.rounds != 3 || !o.quick || o.peersFile != "peers.json" || len(o.peers) != 2 ||
		o.peers[0].Run != "run -x -n {n} {prog} {args}" || o.peers[1].Name != "mpi" {
		t.Errorf("%+v %v", o, err)
	}
	for _, args := range []string{"-only speed", "-verbs barrier", "-n 1", "-n x", "-rounds -1", "-limit 0s", "-peer a", "-peer a=b", "-peer a=b:", "more"} {
		if _, err := parse(strings.Fields(args), noEnv); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
}

const good = `[{"name": "a", "compile": "cc {src} {out}", "run": "run {ft} {tcp} -n {n} {prog} {args}", "ft": "--ft", "tcp": "--tcp", "max_n": {"coll": 2, "ulfm": 0},
  "cgo": "go {out} {pkg}", "shmem": "osh {src} {out}", "dir": "/d", "inside": "/i"}]`

func TestSpecs(t *testing.T) {
	all, err := readSpecs([]byte(good))
	if err == nil {
		err = checkSpecs(all)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := all[0]
	for _, c := range []struct{ got, want string }{
		{s.run(task{suite: "coll", n: 4, args: []string{"-sizes", "8"}}, s.inside("coll")), "run   -n 4 /i/coll.a -sizes 8"},
		{s.run(task{suite: "ulfm", n: 4}, "/p"), "run --ft  -n 4 /p "},
		{s.run(task{suite: overTCP, between: "ulfm", n: 4}, "/p"), "run --ft --tcp -n 4 /p "},
		{s.compile("coll"), "cc /i/coll.c /i/coll.a"},
		{s.compile("shmem"), "osh /i/shmem.c /i/shmem.a"},
		{s.cgo("p", "o"), "go o p"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	for _, c := range []struct {
		suite string
		n     int
		want  bool
	}{{"coll", 2, true}, {"coll", 3, false}, {"ulfm", 2, false}, {"p2p", 99, true}, {everyColl, 2, true}, {everyColl, 3, false}, {overTCP, 8, true}} {
		if got := s.takesPart(task{suite: c.suite, n: c.n}); got != c.want {
			t.Errorf("%s with %d ranks: %v", c.suite, c.n, got)
		}
	}
}

func TestBadSpecs(t *testing.T) {
	for _, c := range [][2]string{
		{`"a"`, `"A b"`}, {`"a"`, `"goulfm"`}, {`"a"`, `""`}, {"{src}", "src"}, {"{out}", "out"}, {"{args}", ""}, {"{n}", ""}, {"{prog}", ""},
		{"{pkg}", ""}, {`"dir"`, `"directory"`}, {`"/d"`, `""`}, {`"coll"`, `"col"`}, {"}]", ""},
	} {
		all, err := readSpecs([]byte(strings.Replace(good, c[0], c[1], 1)))
		if err == nil {
			err = checkSpecs(all)
		}
		if err == nil {
			t.Errorf("with %s for %s it was accepted", c[1], c[0])
		}
	}
	twice := append([]spec{simple("a", "b", "c")}, simple("a", "b", "c"))
	if checkSpecs(twice) == nil {
		t.Error("two peers of one name were accepted")
	}
}

func TestSpecsOfFileComeFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "peers.json")
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := options{peersFile: file, peers: []spec{simple("b", "c", "d")}}.specs()
	if err != nil || len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" {
		t.Errorf("%+v %v", all, err)
	}
	if _, err := (options{peersFile: file + "x"}).specs(); err == nil {
		t.Error("a file that does not exist was read")
	}
}

func TestWithoutAPeer(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), options{}, &out, io.Discard); err != nil || !strings.Contains(out.String(), "no peer to compare with") {
		t.Errorf("%s %v", out.String(), err)
	}
}

func TestTargets(t *testing.T) {
	type row struct {
		key
		target
	}
	k := func(bench string, n, size int) key { return key{bench, n, size} }
	for _, c := range []row{
		{k("latency", 2, 8), target{reference, "<=", 0.75}},
		{k("latency", 2, 1024), target{best, "<=", 1}},
		{k("latency", 2, 16384), target{best, "<=", 1}},
		{k("latency", 2, 65536), target{reference, "<=", 0.65}},
		{k("latency", 2, 4<<20), target{reference, "<=", 0.65}},
		{k("rate", 2, 8), target{reference, ">=", 1}},
		{k("bandwidth", 2, 4096), target{best, ">=", 1}},
		{k("bandwidth", 2, 1<<20), target{reference, ">=", 1.5}},
		{k("barrier", 2, 0), target{reference, "<=", 1}},
		{k("barrier", 64, 0), target{reference, "<=", 0.5}},
		{k("allreduce", 2, 8), target{reference, "<=", 1}},
		{k("allreduce", 8, 8), target{reference, "<=", 0.5}},
		{k("allreduce", 16, 65536), target{reference, "<=", 0.7}},
		{k("bcast", 2, 1<<20), target{reference, "<=", 0.7}},
		{k("gather", 2, 8), target{reference, "<=", 1.2}},
		{k("reduce", 16, 4<<20), target{reference, "<=", 1.2}},
		{k("reduce_scatter_median", 16, 0), target{reference, "<=", 0.8}},
		{k("scan_median", 64, 0), target{reference, "<=", 0.5}},
		{k("agree", 2, 0), target{reference, "<=", 0.5}},
		{k(perAllreduce, 64, 0), target{itself, "<=", 1.5}},
		{k("detect", 8, 0), target{reference, "<=", 0.1}},
		{k("agree_detecting", 16, 0), target{reference, "<=", 0.1}},
		{k("ack_agree", 16, 0), target{reference, "<=", 0.5}},
		{k("shrink", 16, 0), target{reference, "<=", 0.25}},
		{k("revoke", 16, 0), target{reference, "<=", 0.5}},
		{k("start", 64, 0), target{reference, "<=", 0.2}},
	} {
		if got, ok := targetOf(c.key); !ok || got != c.target {
			t.Errorf("%v: %v %v, want %v", c.key, got, ok, c.target)
		}
	}
	for _, k := range []key{k("latency", 2, 0), k("bandwidth", 2, 8), k("bcast", 2, 8), k("allreduce", 64, 1<<20), k("detect", 2, 0), k("shrink", 2, 0), k("gather", 64, 8), k("agree_shrunk", 2, 0), k("allreduce_before", 2, 0)} {
		if got, ok := targetOf(k); ok {
			t.Errorf("%v has the target %v", k, got)
		}
	}
}

// Every row that has a target is measured by some task, and by its own suite.
func TestTasks(t *testing.T) {
	o := options{only: suites, counts: []int{2, 64}, verbs: []string{"gather", "scan"}}
	got := ""
	for _, x := range tasks(o) {
		got += strings.TrimSpace(strings.Join(append([]string{x.suite, string(rune('0' + x.n%10))}, x.args...), " ")) + "\n"
	}
	const want = `p2p 2 -ops latency -sizes 8,1K,4K,16K,64K,1M,4M -json -batches 5 -time 100ms
p2p 2 -ops bandwidth,rate -sizes 4K,1M -json -batches 5 -time 100ms
coll 2 -ops barrier,allreduce,bcast -sizes 8,64K,1M -json -batches 5 -time 100ms
coll 4 -ops barrier,allreduce -sizes 8 -json -batches 5 -time 100ms
collectives 2 -ops gather -sizes 8,64,512,4K,64K,1M,4M -json -batches 5 -time 100ms
collectives 2 -ops scan -sizes 8,64,512,4K,64K,1M,4M -json -batches 5 -time 100ms
collectives 4 -ops gather -sizes 8,64,512,4K,32K -json -batches 5 -time 100ms
collectives 4 -ops scan -sizes 8,64,512,4K,32K -json -batches 5 -time 100ms
ulfm 2 -json -batches 5
ulfm 4 -json -batches 5
start 2
start 4
tcp 2 -ops latency,rate -sizes 8,4K,64K,1M -json -batches 5 -time 100ms
tcp 2 -ops barrier,allreduce -sizes 8,64K -json -batches 5 -time 100ms
tcp 4 -ops barrier,allreduce -sizes 8,64K -json -batches 5 -time 100ms
tcp 8 -ops barrier,allreduce -sizes 8,64K -json -batches 5 -time 100ms
tcp 4 -json -batches 5
tcp 8 -json -batches 5
rma 2 -ops put -sizes 8,1K,4K,64K,1M,4M -json -batches 5 -time 100ms
rma 2 -ops put64 -json -batches 5 -time 100ms
rma 2 -ops get -sizes 8,64K,1M -json -batches 5 -time 100ms
rma 2 -ops load -json -batches 5 -time 100ms
rma 2 -ops store -json -batches 5 -time 100ms
rma 2 -ops fetch_add -json -batches 5 -time 100ms
rma 2 -ops cas -json -batches 5 -time 100ms
rma 2 -ops accumulate -sizes 8,1K,64K,1M -json -batches 5 -time 100ms
rma 2 -ops bulk -sizes 1K,64K,1M -json -batches 5 -time 100ms
rma 2 -ops own_put -sizes 8,64K,1M -json -batches 5 -time 100ms
rma 2 -ops own_get -sizes 8,64K,1M -json -batches 5 -time 100ms
rma 2 -ops lock -json -batches 5 -time 100ms
rma 2 -ops lock_both -json -batches 5 -time 100ms
rma 2 -ops fence -json -batches 5 -time 100ms
rma 2 -ops post -json -batches 5 -time 100ms
rma 2 -ops flag -json -batches 5 -time 100ms
rma 2 -ops busy -json -batches 5 -time 100ms
rma 2 -ops shmem_put -json -batches 5 -time 100ms
rma 2 -ops shmem_inc -json -batches 5 -time 100ms
rma 2 -ops shmem_lock -json -batches 5 -time 100ms
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if ts := tasks(options{only: []string{"ulfm"}, counts: []int{8}, quick: true}); len(ts) != 1 || !slices.Equal(ts[0].args, []string{"-json", "-batches", "3"}) {
		t.Errorf("%+v", ts)
	}
	for bench, suite := range map[string]string{"rate": "p2p", "allreduce": "coll", "allreduce_before": "ulfm", perAllreduce: "ulfm", "start": "start", "reduce": everyColl, "scan_median": everyColl} {
		if got := suiteOf(bench); got != suite {
			t.Errorf("%s belongs to %s", bench, got)
		}
	}
}

func TestPrograms(t *testing.T) {
	if got := programOf(everyColl) + programOf("ulfm"); got != "collulfm" {
		t.Error(got)
	}
	if got := (task{suite: everyColl}).peerProgram() + (task{suite: "start"}).peerProgram(); got != "collhello" {
		t.Error(got)
	}
}

// The row over all sizes: goulfm has 1, a peer the median over sizes, round by round. In the second
// round the machine is slow. A contender that lacks a size is not in the row.
func TestMedianOverSizes(t *testing.T) {
	sizes := func(a, b, c string) string {
		at := func(size, us string) string {
			return strings.Replace(line("scan", "us", us), `"size":8`, `"size":`+size, 1)
		}
		return at("8", a) + ";" + at("64", b) + ";" + at("512", c)
	}
	d := newDriver(2,
		fake(t, oursName, false, sizes("1", "1", "10"), sizes("10", "10", "100")),
		fake(t, "a", true, sizes("1", "2", "50"), sizes("40", "30", "200")),
		fake(t, "b", false, line("scan", "us", "1"), line("scan", "us", "1")))
	m, err := d.measure(t.Context(), task{suite: everyColl, n: 2, verb: "scan"})
	if err != nil {
		t.Fatal(err)
	}
	rows := m.rows("today")
	if len(rows) != 4 {
		t.Fatalf("%+v", rows)
	}
	r := rows[3]
	if r.key() != (key{"scan_median", 2, 0}) || r.Unit != record.Times || r.Ours.Median != 1 || r.Rounds != 2 || len(r.Peers) != 1 {
		t.Errorf("%+v", r)
	}
	if v := r.Peers["a"]; v.Summary.Min != 2 || v.Summary.P99 != 3 || v.Low != 1.0/3 || v.High != 0.5 {
		t.Errorf("%+v", v)
	}
	if v := r.Target; v == nil || math.Abs(v.Value-(0.5+1.0/3)/2) > 1e-9 || v.Bound != 0.8 || !v.Met {
		t.Errorf("%+v", v)
	}
	if v := rows[0].Target; v == nil || v.Bound != 1.2 || !v.Met {
		t.Errorf("%+v", v)
	}
}

// fake is a contender that prints, in each turn, the next of the given lines.
func fake(t *testing.T, name string, first bool, lines ...string) *contender {
	turn := filepath.Join(t.TempDir(), "turn")
	script := "t=$(cat " + turn + " 2>/dev/null || echo 0); echo $((t+1)) >" + turn + "; case $t in\n"
	for i, l := range lines {
		script += string(rune('0'+i)) + ") " + l + ";;\n"
	}
	script += "esac"
	return &contender{name: name, first: first, command: func(task) ([]string, bool) { return []string{"sh", "-c", script}, true }}
}

func line(bench, unit, batches string) string {
	return `echo '{"bench":"` + bench + `","n":2,"size":8,"unit":"` + unit + `","batches":[` + batches + `]}'`
}

func newDriver(rounds int, cs ...*contender) *driver {
	return &driver{options: options{rounds: rounds, limit: time.Minute}, progress: io.Discard, contenders: cs}
}

// The machine is three times as slow in the second round; the ratios are unaffected. Each round has
// another best peer.
func TestMeasure(t *testing.T) {
	d := newDriver(2,
		fake(t, oursName, false, line("bandwidth", "MB/s", "9,10,11"), line("bandwidth", "MB/s", "30")),
		fake(t, "a", true, line("bandwidth", "MB/s", "5"), line("bandwidth", "MB/s", "30")),
		fake(t, "b", false, line("bandwidth", "MB/s", "8"), line("bandwidth", "MB/s", "12")))
	d.contenders = append(d.contenders, &contender{name: "c", command: func(task) ([]string, bool) { return nil, false }})
	m, err := d.measure(t.Context(), task{suite: "p2p", n: 2})
	if err != nil {
		t.Fatal(err)
	}
	rows := m.rows("today")
	if len(rows) != 1 || rows[0].Rounds != 2 || rows[0].Ours.Median != 10.5 || len(rows[0].Peers) != 2 {
		t.Fatalf("%+v", rows)
	}
	if v := rows[0].Peers["a"]; v.Ratio != 1.5 || v.Low != 1 || v.High != 2 {
		t.Errorf("a: %+v", v)
	}
	if v := rows[0].Peers["b"]; v.Ratio != 1.875 {
		t.Errorf("b: %+v", v)
	}
	m.keys[0].size = 4096
	m.rounds[m.keys[0]], m.units[m.keys[0]] = m.rounds[key{"bandwidth", 2, 8}], "MB/s"
	if v := m.verdict(m.keys[0]); v == nil || v.Against != best || v.Value != 1.125 || !v.Met {
		t.Errorf("%+v", v)
	}
}

func TestMeasureGoesOnWithoutAPeerThatFails(t *testing.T) {
	ours := func() *contender {
		return fake(t, oursName, false, line("rate", "Mmsg/s", "2"), line("rate", "Mmsg/s", "2"))
	}
	for _, second := range []string{"exit 3", "true", "echo '{'"} {
		d := newDriver(2, ours(), fake(t, "a", true, line("rate", "Mmsg/s", "1"), second))
		m, err := d.measure(t.Context(), task{suite: "p2p", n: 2})
		if err != nil || !slices.Equal(d.notes, []string{"a in suite p2p with 2 ranks: it failed"}) {
			t.Fatalf("%q: %v, notes %q", second, err, d.notes)
		}
		if rows := m.rows(""); len(rows) != 1 || len(rows[0].Peers) != 0 || rows[0].Target != nil {
			t.Errorf("%q: %+v", second, rows)
		}
	}
	d := newDriver(1, fake(t, oursName, false, "exit 1"))
	if _, err := d.measure(t.Context(), task{suite: "p2p", n: 2}); err == nil {
		t.Error("ours failed and nobody said so")
	}
}

// A bound of the suite itself overrides the bound of its program.
func TestTakesPartInTheSuiteOfAll(t *testing.T) {
	s := spec{MaxN: map[string]int{"coll": 2, everyColl: 8}}
	part := func(suite string, n int) bool { return s.takesPart(task{suite: suite, n: n}) }
	if !part(everyColl, 8) || part(everyColl, 16) || part("coll", 8) || part(overTCP, 2) {
		t.Errorf("%+v", s)
	}
}

func TestCommandTellsTheChoice(t *testing.T) {
	o := options{only: []string{everyColl}, counts: []int{8}, rounds: 3, verbs: verbs}
	if got := command(o); strings.Contains(got, "-verbs") {
		t.Error(got)
	}
	o.verbs = []string{"scan"}
	if got, want := command(o), "go run ./bench/compare -only collectives -verbs scan -n 8 -rounds 3"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSettle(t *testing.T) {
	failed := errors.New("exit 1")
	done := job.Result{Records: []record.Record{{Bench: "agree"}, {Bench: lastPhase}}, Took: time.Second}
	half := job.Result{Records: done.Records[:1]}
	if rs, err := settle(task{suite: "ulfm"}, done, failed); err != nil || len(rs) != 2 {
		t.Errorf("a job with a death whose survivors came to the end: %v %v", rs, err)
	}
	if _, err := settle(task{suite: "ulfm"}, half, failed); !errors.Is(err, failed) {
		t.Errorf("one that stopped half way: %v", err)
	}
	if _, err := settle(task{suite: "p2p"}, done, failed); !errors.Is(err, failed) {
		t.Errorf("one without a death: %v", err)
	}
	if rs, err := settle(task{suite: "start", n: 4}, done, nil); err != nil || len(rs) != 1 || rs[0].Batches[0] != 1000 || rs[0].N != 4 {
		t.Errorf("start: %+v %v", rs, err)
	}
}

func TestDerive(t *testing.T) {
	rs := derive([]record.Record{{Bench: "agree", N: 4, Batches: []float64{6, 6}}, {Bench: "allreduce_before", N: 4, Batches: []float64{1, 4}}})
	if len(rs) != 3 || rs[2].Bench != perAllreduce || rs[2].Batches[0] != 2.4 || rs[2].N != 4 {
		t.Errorf("%+v", rs)
	}
	m := newMeasured(task{})
	m.contenders = []*contender{{name: oursName}}
	m.add(oursName, rs)
	if v := m.verdict(key{perAllreduce, 4, 0}); v == nil || v.Value != 2.4 || v.Met {
		t.Errorf("%+v", v)
	}
}

// sample is results with one row of each kind.
func sample() *results {
	return &results{
		About: About{Date: "2026-01-02", Machine: "Fast", Cores: 2, Kernel: "6", Load: "0.10", Go: "go1", Code: "abc", Command: "go run", Peers: []Peer{{"a", "1.0", false}, {"b", "2.0", false}}},
		Notes: []string{"b in suite coll: it failed"},
		Rows: []Row{
			{Bench: "latency", N: 2, Size: 8, Unit: "us", Date: "2026-01-02", Code: "abc", Rounds: 3, Ours: record.Summary{Median: 0.0714},
				Peers:  map[string]Versus{"a": {Summary: record.Summary{Median: 0.12}, Ratio: 0.6, Low: 0.55, High: 0.65}, "b": {Summary: record.Summary{Median: 150}, Ratio: 1, Low: 1, High: 250}},
				Target: &Verdict{target{reference, "<=", 0.75}, 0.6, true}},
			{Bench: "bandwidth", N: 2, Size: 4096, Unit: "MB/s", Date: "2026-01-02", Code: "abc", Rounds: 3, Ours: record.Summary{Median: 20000},
				Peers: map[string]Versus{"a": {Ratio: 0.5}}, Target: &Verdict{target{best, ">=", 1}, 0.5, false}},
			{Bench: "barrier", N: 64, Unit: "us", Date: "2026-01-01", Code: "0ld", Rounds: 11, Peers: map[string]Versus{}},
		},
	}
}

func TestMarkdown(t *testing.T) {
	const want = `* date: 2026-01-02
* kernel: 6
* load before: 0.10
* goulfm: abc, go1
* command: ` + "`go run`" + `
* a: 1.0
* b: 2.0

| metric    |   n |  size | unit | goulfm |     a |            ratio |     b |           ratio |       target | reached | met | rounds |       date | revision |
| --------- | --: | ----: | ---: | -----: | ----: | ---------------: | ----: | --------------: | -----------: | ------: | --: | -----: | ---------: | -------: |
| latency   |   2 |   8 B |   us |  0.071 | 0.120 | 0.60 (0.55-0.65) | 150.0 | 1.00 (1.00-250) |      <= 0.75 |    0.60 | yes |      3 | 2026-01-02 |      abc |
| bandwidth |   2 | 4 KiB | MB/s |  20000 | 0.000 | 0.50 (0.00-0.00) |     - |               - | >= 1 of best |    0.50 |  no |      3 | 2026-01-02 |      abc |
| barrier   |  64 |       |   us |  0.000 |     - |                - |     - |               - |              |         |     |     11 | 2026-01-01 |      0ld |

1 of 2 targets met.

Missed:

* bandwidth, 2 ranks, 4 KiB: 0.50, target >= 1 of best

Not measured:

* b in suite coll: it failed
`
	if _, got, _ := strings.Cut((&book{[]*results{sample()}}).markdown(), "\n## Fast, 2 cores\n\nThe last run:\n\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if r, err := load(dir); err != nil || len(r.Processors) != 0 {
		t.Errorf("without a file: %+v %v", r, err)
	}
	want := &book{[]*results{sample()}}
	if err := want.save(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := load(dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
	if err := os.WriteFile(filepath.Join(dir, jsonName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(dir); err == nil {
		t.Error("half a file was read")
	}
}

// TestAdd: a run replaces the measured rows on its model of processor, and nothing else.
func TestAdd(t *testing.T) {
	b := &book{[]*results{sample()}}
	now := &results{About: sample().About, Rows: []Row{{Bench: "barrier", N: 64, Rounds: 1, Code: "new"}, {Bench: "start", N: 2}}}
	now.About.Peers = now.About.Peers[:1]
	b.add(now)
	if len(b.Processors) != 1 {
		t.Fatalf("%d tables", len(b.Processors))
	}
	got := b.Processors[0]
	if len(got.Rows) != 4 || got.Rows[2].Rounds != 1 || got.Rows[2].Code != "new" || got.Rows[3].Bench != "start" || len(got.About.Peers) != 2 {
		t.Errorf("%+v", got)
	}
	if got.Rows[0].Code != "abc" {
		t.Errorf("a row that was not measured became %+v", got.Rows[0])
	}
	for _, change := range []func(a *About){func(a *About) { a.Machine = "Other" }, func(a *About) { a.Cores = 64 }} {
		b := &book{[]*results{sample()}}
		other := *now
		change(&other.About)
		b.add(&other)
		if len(b.Processors) != 2 || len(b.Processors[0].Rows) != 3 || len(b.Processors[1].Rows) != 2 {
			t.Errorf("%+v", b.Processors)
		}
	}
}
