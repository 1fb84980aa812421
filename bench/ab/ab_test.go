package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

func mustParse(t *testing.T, line string) options {
	t.Helper()
	o, err := parse(strings.Fields(line), io.Discard)
	require.NoError(t, err, line)
	return o
}

func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		"-pairs 0":           "-pairs 0: want at least 1",
		"-n two":             "-n: ",
		"-only shrnk":        "-only shrnk: no such row or group: ",
		"more":               "argument \"more\": want flags only",
		"-only shrink -n 2":  "no row has all of",
		"-only start -short": "no row has all of",
	} {
		_, err := parse(strings.Fields(line), io.Discard)
		assert.ErrorContains(t, err, want, line)
	}
	o := mustParse(t, "-base x -head y -only shrink,rma -n 2,4 -limit")
	assert.Equal(t, 7, o.pairs)
	assert.True(t, o.limit)
}

// rowsOf are the names of the rows that flags choose.
func rowsOf(t *testing.T, line string) (names []string) {
	t.Helper()
	for _, f := range mustParse(t, line).families() {
		for _, r := range f.rows {
			names = append(names, r.String())
		}
	}
	return names
}

// TestRows: each row stands once in the table, and there is one for each operation that a change
// must not slow down.
func TestRows(t *testing.T) {
	names := rowsOf(t, "")
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(names))), len(names), "each once")
	for _, want := range []string{
		"latency, 2 ranks, 8 B", "latency, 2 ranks, 64 B", "latency, 2 ranks, 1 KiB", "latency, 2 ranks, 16 KiB", "latency, 2 ranks, 64 KiB", "latency, 2 ranks, 1 MiB",
		"bandwidth, 2 ranks, 4 KiB", "bandwidth, 2 ranks, 64 KiB", "bandwidth, 2 ranks, 1 MiB", "rate, 2 ranks, 8 B",
		"barrier, 2 ranks", "bcast, 8 ranks, 8 B", "allreduce, 2 ranks, 64 KiB", "alltoall, 8 ranks, 64 KiB",
		"agree, 4 ranks", "detect, 8 ranks", "agree_detecting, 16 ranks", "ack_agree, 4 ranks", "shrink, 16 ranks", "revoke, 8 ranks",
		"nodes_shrink, 4 ranks", "start, 2 ranks", "start, 16 ranks", "recovery_commit, 4 ranks, 1 MiB", "recovery_repair, 4 ranks",
		"rma_put, 2 ranks, 8 B", "rma_get, 2 ranks, 64 KiB", "rma_lock, 2 ranks",
	} {
		assert.Contains(t, names, want)
	}
	assert.Equal(t, []string{"shrink, 4 ranks", "shrink, 8 ranks", "shrink, 16 ranks", "nodes_shrink, 4 ranks"}, rowsOf(t, "-only shrink"))
	assert.Equal(t, []string{"nodes_shrink, 4 ranks"}, rowsOf(t, "-only nodes_shrink"))
	assert.Equal(t, []string{"rma_lock, 2 ranks"}, rowsOf(t, "-only lock -n 2"))
	assert.Len(t, rowsOf(t, "-only rma"), 5)
	short := rowsOf(t, "-short")
	assert.Contains(t, short, "latency, 2 ranks, 16 KiB")
	assert.Contains(t, short, "nodes_revoke, 4 ranks")
	assert.NotContains(t, short, "shrink, 16 ranks")
}

// TestCommandIsOfTheRows: a job measures the operations and sizes of the chosen rows alone.
func TestCommandIsOfTheRows(t *testing.T) {
	fs := mustParse(t, "-only put,lock").families()
	require.Len(t, fs, 1)
	assert.Equal(t, "-ops put,lock -sizes 8,65536 -json -batches 15 -time 60ms", strings.Join(fs[0].command(), " "))
	s := &side{bin: "bin", programs: map[string]program{launcher: programOf(launcher), fs[0].program: programOf("old/one verb")}}
	assert.Equal(t, "bin/goulfm run -q -n 2 bin/one verb -ops", strings.Join(s.argv(fs[0], "")[:8], " "))

	fs = mustParse(t, "-only nodes_shrink").families()
	s.programs[fs[0].program] = programOf("bench/measure ulfm")
	assert.Equal(t, "bin/goulfm run -q -n 4 --host 4 --ppn 1 bin/measure ulfm -json -batches 5 -lead 100ms", strings.Join(s.argv(fs[0], ""), " "))
	fs = mustParse(t, "-only repair").families()
	s.programs[fs[0].program] = programOf("bench/recovery")
	assert.Equal(t, "bin/recovery -quick -only warm -rounds 5 -goulfm bin/goulfm -csv v", strings.Join(s.argv(fs[0], "v"), " "))
}

func TestMoves(t *testing.T) {
	_, err := readMoves("# comment\nbench/a bench/b\n")
	assert.ErrorContains(t, err, "line 2")
	_, err = readMoves("a\tb\tc\n")
	assert.Error(t, err)
	moves, err := readMoves("# comment\n\nbench/p2p\tbench/measure p2p\nbench/measure p2p\tinternal/measure p2p\nx\ty\n")
	require.NoError(t, err)
	only := func(paths ...string) func(string) bool {
		return func(path string) bool { return slices.Contains(paths, path) }
	}
	for _, c := range []struct {
		have, want string
	}{
		{"internal/measure", "internal/measure p2p"},
		{"bench/measure", "bench/measure p2p"},
		{"bench/p2p", "bench/p2p"},
		{"bench/measure bench/p2p", "bench/p2p"}, // the command is not in bench/measure yet
		{"bench/measure bench/measure/p2p bench/p2p", "bench/measure p2p"},
	} {
		p, ok := find("internal/measure p2p", moves, only(strings.Fields(c.have)...))
		assert.True(t, ok)
		assert.Equal(t, c.want, strings.Join(append([]string{p.path}, p.args...), " "))
	}
	_, ok := find("internal/measure p2p", moves, only("x", "y"))
	assert.False(t, ok)

	_, err = readMoves(pathsText)
	assert.NoError(t, err, "the table of this tree")
}

// TestProgramsAreThere: the rows name programs of this tree.
func TestProgramsAreThere(t *testing.T) {
	for _, f := range all() {
		files, err := filepath.Glob(filepath.Join("..", "..", programOf(f.program).path, "*.go"))
		assert.NoError(t, err)
		assert.NotEmpty(t, files, f.program)
	}
}

func TestReadValues(t *testing.T) {
	const head = "figure,what,unit,value\n"
	rec, err := readValues(strings.NewReader(head + "goals,\"kill, warm\",ms,1.5\ngoals,\"kill, warm\",ms,2e1\n"))
	require.NoError(t, err)
	assert.Equal(t, []float64{1.5, 20}, rec.Batches)
	assert.Equal(t, record.Millis, rec.Unit)
	for text, want := range map[string]string{
		head:                            "no value",
		head + "g,a,ms,1\ng,b,ms,2\n":   "both \"a\" and \"b\"",
		head + "g,a,ms,fast\n":          "want a number",
		head + "g,a,ms,1\ng,a,us,2\n":   "both",
		head + "g,a,ms,1\ng,a\n":        "wrong number of fields",
		head + "g,\"kill to resumed,ms": "",
	} {
		_, err := readValues(strings.NewReader(text))
		assert.ErrorContains(t, err, want, text)
	}
}

// A play is a meter for tests: its turns measure nothing and return prepared figures at once.
type play struct {
	meter
	turns []string // names of the sides, in order
	at    int      // turns of the head so far
}

// newPlay has the head give value(turn), where the base gives 100, for each row.
func newPlay(pairs int, unit string, value func(r row, turn int) float64) *play {
	p := &play{meter: meter{base: &side{name: "base", revision: "aaaa"}, head: &side{name: "head", revision: "this tree"}, pairs: pairs, progress: io.Discard}}
	p.take = func(_ context.Context, s *side, f family) (figures, error) {
		got := figures{}
		for _, r := range f.rows {
			got[r] = measure{100, unit}
			if s == p.head {
				got[r] = measure{value(r, p.at), unit}
			}
		}
		p.turns = append(p.turns, s.name)
		if s == p.head {
			p.at++
		}
		return got, nil
	}
	return p
}

func one(benches ...string) []family {
	f := family{group: "p2p", n: 2}
	f.rows = f.rowsOf(strings.Join(benches, " "))
	return []family{f}
}

func TestTurnsAlternate(t *testing.T) {
	p := newPlay(3, record.Micros, func(row, int) float64 { return 100 })
	results, lacks, err := p.measureAll(t.Context(), one("latency"))
	assert.NoError(t, err)
	assert.Empty(t, lacks)
	assert.Equal(t, []string{"base", "head", "head", "base", "base", "head"}, p.turns)
	assert.Equal(t, []float64{1, 1, 1}, results[0].ratios())
}

// TestRatioIsOfPairs: the machine gets ten times slower on the way, which no ratio shows.
func TestRatioIsOfPairs(t *testing.T) {
	r := result{unit: record.Micros, base: []float64{1, 10, 1}, head: []float64{1.2, 12, 1.1}}
	assert.InDelta(t, 1.2, r.ratio(), 1e-9)
	r.unit = record.MBps
	assert.InDelta(t, 1/1.2, r.ratio(), 1e-9, "more is better")
}

// TestLimit: a row fails only if it is worse in three repetitions, and each one that does is named.
func TestLimit(t *testing.T) {
	worse := func(until int) func(r row, turn int) float64 {
		return func(r row, turn int) float64 {
			switch {
			case r.bench == "slow", r.bench == "slow2", r.bench == "once" && turn < until:
				return 140
			case r.bench == "little":
				return 129
			}
			return 90
		}
	}
	var out strings.Builder
	p := newPlay(7, record.Micros, worse(7))
	err := p.judge(t.Context(), one("fast", "slow", "little", "once", "slow2"), true, &out)
	assert.EqualError(t, err, "worse than aaaa by more than 30 % in 3 repetitions:\n\tslow, 2 ranks\n\tslow2, 2 ranks")
	assert.Len(t, p.turns, 3*2*7, "three repetitions")
	assert.Regexp(t, `\| slow +\| +2 \| +\| +us \| 100.0 \| 140.0 \| +1.40 \| 1.40-1.40 \| 30 % \|`, out.String())
	assert.Regexp(t, `little .* 1.29 .* 5 % \|`, out.String())
	again, _, _ := strings.Cut(out.String()[strings.Index(out.String(), "repetition 2"):], "repetition 3")
	assert.Contains(t, again, "once")
	assert.NotContains(t, again, "fast", "only rows that were worse are measured again")

	p = newPlay(7, record.Micros, worse(14))
	assert.NoError(t, p.judge(t.Context(), one("fast", "once"), true, &out), "worse in two of three")
	assert.Len(t, p.turns, 3*2*7)

	p = newPlay(7, record.Micros, worse(0))
	assert.NoError(t, p.judge(t.Context(), one("slow"), false, &out), "no limit")

	p = newPlay(7, record.MBps, func(row, int) float64 { return 70 })
	assert.Error(t, p.judge(t.Context(), one("bandwidth"), true, &out), "less of it is worse")
	p = newPlay(7, record.MBps, func(row, int) float64 { return 140 })
	assert.NoError(t, p.judge(t.Context(), one("bandwidth"), true, &out))
}

// TestNoiseIsNoAlarm: the median of the ratios is above the limit, and every third pair is below 1.
func TestNoiseIsNoAlarm(t *testing.T) {
	noisy := func(_ row, turn int) float64 { return []float64{150, 50, 300}[turn%3] }
	var out strings.Builder
	assert.NoError(t, newPlay(9, record.Micros, noisy).judge(t.Context(), one("latency"), true, &out))
	assert.Contains(t, out.String(), "1.50 | 0.50-3.00 |  5 % |")
	steady := func(_ row, turn int) float64 { return []float64{150, 110, 300}[turn%3] }
	assert.Error(t, newPlay(9, record.Micros, steady).judge(t.Context(), one("latency"), true, &out))
}

// TestFigureOfAJob: of short batches the best one, of failures the median.
func TestFigureOfAJob(t *testing.T) {
	vs := []float64{3, 1, 8}
	listed, other := family{listed: true}, family{}
	assert.Equal(t, 1.0, listed.figureOf(record.Micros, vs))
	assert.Equal(t, 8.0, listed.figureOf(record.MBps, vs))
	assert.Equal(t, 3.0, other.figureOf(record.Micros, vs))
}

// TestLacks: a row that one side does not have is named, and the others are measured.
func TestLacks(t *testing.T) {
	p := newPlay(2, record.Micros, func(row, int) float64 { return 100 })
	whole := p.take
	p.take = func(ctx context.Context, s *side, f family) (figures, error) {
		got, err := whole(ctx, s, f)
		if s == p.base {
			maps.DeleteFunc(got, func(r row, _ measure) bool { return r.bench == "new" })
		}
		return got, err
	}
	var out strings.Builder
	require.NoError(t, p.judge(t.Context(), one("old", "new"), true, &out))
	assert.Contains(t, out.String(), "| old ")
	assert.Contains(t, out.String(), "* new, 2 ranks: base aaaa: its program does not print this row")

	p.take = func(ctx context.Context, s *side, f family) (figures, error) {
		if s == p.base {
			return nil, errors.New("/tmp/x run: exit status 2\n\tno operation \"new\"")
		}
		return whole(ctx, s, f)
	}
	out.Reset()
	require.NoError(t, p.judge(t.Context(), one("new"), true, &out))
	assert.Contains(t, out.String(), "* new, 2 ranks: base aaaa: exit status 2 no operation \"new\"")

	p.take = func(ctx context.Context, s *side, f family) (figures, error) {
		if s == p.head {
			return nil, errors.New("crash")
		}
		return whole(ctx, s, f)
	}
	assert.ErrorContains(t, p.judge(t.Context(), one("new"), true, &out), "head this tree: crash")

	p.take = whole
	p.base.lacks = map[string]string{"": "it has no program x"}
	out.Reset()
	require.NoError(t, p.judge(t.Context(), one("new"), true, &out))
	assert.Contains(t, out.String(), "it has no program x")
}

// repository makes one with a commit, and returns its folder and the hash.
func repository(t *testing.T) (dir, hash string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir = t.TempDir()
	for _, args := range []string{"init -q", "-c user.name=n -c user.email=e commit -q --allow-empty -m first"} {
		out, err := git(t.Context(), dir, strings.Fields(args)...)
		require.NoError(t, err, out)
	}
	hash, err := resolve(dir, "HEAD")
	require.NoError(t, err)
	return dir, hash
}

func TestUnknownRevision(t *testing.T) {
	dir, hash := repository(t)
	for _, bad := range []string{"nothing", "--all", "HEAD:x", "0123456789"} {
		_, err := resolve(dir, bad)
		assert.ErrorContains(t, err, "revision \""+bad+"\" is no commit of this repository: name another one with -base or BASE=", bad)
	}
	o := options{}
	assert.ErrorContains(t, o.resolve(dir), "no revision to compare with: ")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bench"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, baseFile), []byte(hash+"\n"), 0o644))
	require.NoError(t, o.resolve(dir))
	assert.Equal(t, options{base: hash}, o)
	assert.Error(t, (&options{base: hash, head: "nothing"}).resolve(dir))
}

// TestNothingStays: the worktrees and the folder are removed, also after a failed or interrupted
// build of a side.
func TestNothingStays(t *testing.T) {
	dir, hash := repository(t)
	w, err := newWorkshop(dir, io.Discard)
	require.NoError(t, err)
	_, err = w.side(t.Context(), "base", hash, "", []string{launcher, "bench/measure rma"})
	assert.ErrorContains(t, err, "has no cmd/goulfm: add its path there to bench/ab/paths.tsv")
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	_, err = w.side(interrupted, "head", hash, "", []string{launcher})
	assert.Error(t, err)
	w.close()
	assert.NoDirExists(t, w.dir)
	list, err := git(t.Context(), dir, "worktree", "list")
	require.NoError(t, err)
	assert.Len(t, strings.Split(strings.TrimSpace(list), "\n"), 1, list)
}
