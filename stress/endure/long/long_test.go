package long

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/harness/procfs"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/stress/endure/day"
)

// A copy of this program is a rank, with day as its first argument, or a driver, with long.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "day":
		day.Main(os.Args[2:])
	case len(os.Args) > 1 && os.Args[1] == "long":
		Main(os.Args[2:])
	default:
		os.Exit(m.Run())
	}
}

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-for-all 1h -piece 1s": true, "-summary -table x.md": true, "-agreements 0 -failures 1": true,
		"-piece 1ms": false, "-for-all -1s": false, "-grace 0s": false, "-every 0s": false, "-n 1": false, "-spares -1": false,
		"-log=": false, "-table x.md": false, "x": false, "-frob": false,
	})
}

func someRow(seed, agreements, failures uint64) row {
	return row{
		Date: time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC), Processor: `X, "Y"`, Seed: seed, Seconds: 300.5,
		Agreements: agreements, Failures: failures, Start: 100, Tenth: 200, End: 290, Rank: 50, Load: "1.50",
	}
}

// logged opens a log, adds rows and closes the log.
func logged(t *testing.T, name string, rows ...row) {
	t.Helper()
	b, err := openBook(name)
	require.NoError(t, err)
	defer b.close()
	for _, r := range rows {
		require.NoError(t, b.add(r))
	}
}

// rowsOf returns the rows of a log.
func rowsOf(t *testing.T, name string) []row {
	t.Helper()
	b, err := openBook(name)
	require.NoError(t, err)
	defer b.close()
	return b.rows
}

func TestRowsAreReadBack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "new", "pieces.csv")
	hung, wrong := someRow(2, 7, 8), someRow(3, 9, 10)
	hung.Hangs, hung.Code = 1, -1
	wrong.Wrong, wrong.Code = 1, trial.CodeWrong
	want := []row{someRow(1, 1000, 40), hung, wrong}
	logged(t, name, want...)
	assert.Equal(t, want, rowsOf(t, name))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(text), "\n2026-11-29T01:02:03Z,\"X, \"\"Y\"\"\",1,300.5,1000,40,0,0,0,100,200,290,50,1.50\n")
}

func TestSums(t *testing.T) {
	hung := someRow(2, 7, 8)
	hung.Hangs = 1
	s := sumsOf([]row{someRow(1, 1000, 40), hung, someRow(5, 500, 20)})
	assert.Equal(t, sums{Pieces: 3, Agreements: 1500, Failures: 60, Hangs: 1, Seconds: 901.5}, s)
	assert.Equal(t, "1500 agreements and 60 failures in 902 s; pieces 3, wrong 0, hangs 1 (the paper's 24 hours: 969739 and 146213)", s.String())
	b := book{rows: []row{someRow(4, 1, 1), someRow(3, 1, 1)}}
	assert.EqualValues(t, 5, b.next(1))
	assert.EqualValues(t, 9, b.next(9))
}

// TestTornLine cuts a log at every byte of its last line, as kill -9 of the driver may. The next
// start removes the rest of the line, keeps the rows before it, and appends.
func TestTornLine(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pieces.csv")
	logged(t, name, someRow(1, 10, 1))
	one, err := os.ReadFile(name)
	require.NoError(t, err)
	logged(t, name, someRow(2, 20, 2))
	two, err := os.ReadFile(name)
	require.NoError(t, err)
	for cut := len(one); cut < len(two); cut++ {
		require.NoError(t, os.WriteFile(name, two[:cut], 0o600))
		logged(t, name, someRow(2, 20, 2))
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, string(two), string(text), "cut at %d", cut)
	}
	for cut := range bytes.IndexByte(one, '\n') { // the line with the names of the columns
		require.NoError(t, os.WriteFile(name, one[:cut], 0o600))
		logged(t, name, someRow(1, 10, 1))
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, string(one), string(text), "cut at %d", cut)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pieces.csv")
	logged(t, name, someRow(1, 10, 1))
	good, err := os.ReadFile(name)
	require.NoError(t, err)
	for fault, text := range map[string]string{
		"the first line is not": "a,b\n",
		"row 1: ":               strings.Replace(string(good), ",10,1,", ",ten,1,", 1),
		"row 2: ":               string(good) + "1,2\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		_, err := openBook(name)
		require.ErrorContains(t, err, fault)
		kept, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, text, string(kept), "a refused file is unchanged")
	}
	require.NoError(t, os.WriteFile(name, good, 0o600))
	b, err := openBook(name)
	require.NoError(t, err)
	defer b.close()
	_, err = openBook(name)
	assert.ErrorContains(t, err, "another driver writes this log")
}

// A fake runs pieces in no time, and moves its clock by their lengths.
type fake struct {
	each    row                               // the figures of a piece
	at      map[uint64]func(o *outcome) error // changes the pieces of these seeds
	seeds   []uint64
	lengths []time.Duration
	clock   time.Time
}

func (f *fake) run(_ context.Context, seed uint64, length time.Duration, note func(progress)) (outcome, error) {
	f.seeds, f.lengths, f.clock = append(f.seeds, seed), append(f.lengths, length), f.clock.Add(length)
	note(progress{Seconds: 1, Agreements: 2, Failures: 3})
	o := outcome{row: f.each}
	o.Seed = seed
	if special := f.at[seed]; special != nil {
		return o, special(&o)
	}
	return o, nil
}

// drives runs a driver with these flags and a log, and returns its exit code and its output.
func (f *fake) drives(ctx context.Context, t *testing.T, name, flags string) (code int, out, errs string, err error) {
	t.Helper()
	o, err := parse(append(strings.Fields(flags), "-log", name), io.Discard)
	require.NoError(t, err)
	b, err := openBook(name)
	require.NoError(t, err)
	defer b.close()
	var stdout, stderr strings.Builder
	j := job{options: o}
	d := driver{options: o, book: b, run: f.run, command: j.again, now: func() time.Time { return f.clock }, out: &stdout, errs: &stderr}
	code, err = d.all(ctx)
	return code, stdout.String(), stderr.String(), err
}

// TestResumption: an interrupt loses the piece under way, and the next start continues with its
// seed, until both sums are reached.
func TestResumption(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pieces.csv")
	ctx, interrupt := context.WithCancel(t.Context())
	f := &fake{each: someRow(0, 100, 10), at: map[uint64]func(*outcome) error{3: func(o *outcome) error {
		interrupt()
		*o = outcome{row: row{Seed: 3, Wrong: 1, Code: -1}}
		return nil
	}}}
	const flags = "-agreements 450 -failures 60"
	code, out, errs, err := f.drives(ctx, t, name, flags)
	require.NoError(t, err)
	assert.Equal(t, codeInterrupted, code)
	assert.Contains(t, errs, "long: interrupted; the same command continues with seed 3\n")
	assert.Contains(t, errs, "long: seed 1: 1 s, 2 agreements, 3 failures\n")
	assert.Contains(t, out, "long: 200 agreements and 20 failures in 601 s; pieces 2, wrong 0, hangs 0")
	assert.Len(t, rowsOf(t, name), 2)

	f.at = nil
	code, out, _, err = f.drives(t.Context(), t, name, flags)
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Equal(t, []uint64{1, 2, 3, 3, 4, 5, 6}, f.seeds)
	assert.Contains(t, out, "long: 600 agreements and 60 failures")

	code, _, _, err = f.drives(t.Context(), t, name, flags)
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Len(t, f.seeds, 7, "a complete log needs no more pieces")
}

// TestInterruptAtTheEnd: a piece that has ended right counts in spite of an interrupt, and a piece
// that could not be started because of an interrupt is no error.
func TestInterruptAtTheEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pieces.csv")
	ctx, interrupt := context.WithCancel(t.Context())
	f := &fake{each: someRow(0, 100, 10), at: map[uint64]func(*outcome) error{
		1: func(*outcome) error { interrupt(); return nil },
		2: func(*outcome) error { return ctx.Err() },
	}}
	code, _, errs, err := f.drives(ctx, t, name, "")
	require.NoError(t, err)
	assert.Equal(t, codeInterrupted, code)
	assert.Contains(t, errs, "continues with seed 2\n")
	assert.Len(t, rowsOf(t, name), 1)
}

// TestWrongEndsTheRun: the exit code is 1, and the driver prints the command and the output.
func TestWrongEndsTheRun(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pieces.csv")
	f := &fake{each: someRow(0, 100, 10), at: map[uint64]func(*outcome) error{8: func(o *outcome) error {
		o.Wrong, o.Code, o.transcript = 1, trial.CodeWrong, "broken at rank 3\n"
		return nil
	}}}
	code, out, errs, err := f.drives(t.Context(), t, name, "-seed 7 -piece 2m -launch --host=4")
	require.NoError(t, err)
	assert.Equal(t, 1, code)
	assert.Equal(t, []uint64{7, 8}, f.seeds)
	assert.Contains(t, errs, "the piece of seed 8 is wrong (exit code 77); "+
		"again: goulfm run -q -n 8 --spares 1 --host=4 ./stress/endure day -for 2m0s -seed 8\nbroken at rank 3\n")
	assert.Contains(t, out, "100 agreements and 10 failures in 601 s; pieces 2, wrong 1, hangs 0")
}

// TestHangIsCounted: the next piece follows, and the exit code at the end is 1.
func TestHangIsCounted(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pieces.csv")
	f := &fake{each: someRow(0, 100, 10), at: map[uint64]func(*outcome) error{1: func(o *outcome) error {
		o.Hangs, o.Code = 1, -1
		return nil
	}}}
	code, out, errs, err := f.drives(t.Context(), t, name, "-agreements 200 -failures 20")
	require.NoError(t, err)
	assert.Equal(t, 1, code)
	assert.Equal(t, []uint64{1, 2, 3}, f.seeds)
	assert.Contains(t, errs, "the piece of seed 1 hangs; again: goulfm run ")
	assert.Contains(t, out, "200 agreements and 20 failures in 902 s; pieces 3, wrong 0, hangs 1")
}

// TestForAll: the last piece is shorter, none is shorter than a second, and the exit code is 0
// without the whole sums.
func TestForAll(t *testing.T) {
	for flags, want := range map[string][]time.Duration{
		"-piece 4s -for-all 10s":    {4 * time.Second, 4 * time.Second, 2 * time.Second},
		"-piece 4s -for-all 8900ms": {4 * time.Second, 4 * time.Second},
	} {
		f := &fake{each: someRow(0, 100, 10)}
		code, out, _, err := f.drives(t.Context(), t, filepath.Join(t.TempDir(), "pieces.csv"), flags)
		require.NoError(t, err)
		assert.Zero(t, code)
		assert.Equal(t, want, f.lengths)
		assert.Contains(t, out, "00 agreements and ")
	}
}

func TestNoLauncher(t *testing.T) {
	f := &fake{at: map[uint64]func(*outcome) error{1: func(*outcome) error { return errors.New("no such program") }}}
	_, _, _, err := f.drives(t.Context(), t, filepath.Join(t.TempDir(), "pieces.csv"), "")
	assert.EqualError(t, err, "no such program")
}

func TestLineReader(t *testing.T) {
	var noted []progress
	l := &lineReader{note: func(p progress) { noted = append(noted, p) }}
	for _, part := range []string{`{"seconds":1.5,"agreements":20,`, `"failures":3,"done":false}` + "\nbroken", " at rank 1\n{odd\n", `{"agreements":30,"done":true}` + "\n"} {
		_, err := l.Write([]byte(part))
		require.NoError(t, err)
	}
	assert.Equal(t, []progress{{Seconds: 1.5, Agreements: 20, Failures: 3}}, noted)
	assert.Equal(t, progress{Agreements: 30, Done: true}, l.last)
	assert.Equal(t, "broken at rank 1\n{odd\n", l.others.String())
	var end tail
	for range 3 {
		_, _ = end.Write(bytes.Repeat([]byte("x"), tailMax/2))
	}
	assert.Len(t, end.text, tailMax)
}

// script makes a program that stands for the launcher.
func script(t *testing.T, body string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "goulfm")
	require.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\n"+body+"\n"), 0o700))
	return name
}

func TestJob(t *testing.T) {
	for _, c := range []struct {
		name, body   string
		code         int
		wrong, hangs uint64
	}{
		{"right", `echo '{"agreements":5,"failures":2,"done":true}'`, 0, 0, 0},
		{"no last line", `echo '{"agreements":5,"failures":2}'`, 0, 1, 0},
		{"a broken promise", `echo '{"agreements":5,"failures":2}'; echo broken; exit 77`, 77, 1, 0},
		{"a hang that the launcher ends", `echo '{"agreements":5,"failures":2}'; sleep 0.3; exit 124`, 124, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := job{options: options{n: 4, spares: 1, every: time.Second, grace: 100 * time.Millisecond}, goulfm: script(t, c.body), self: "x"}
			if c.hangs == 0 {
				j.grace = time.Minute
			}
			o, err := j.run(t.Context(), 3, 100*time.Millisecond, func(progress) {})
			require.NoError(t, err)
			assert.Equal(t, row{Seed: 3, Agreements: 5, Failures: 2, Wrong: c.wrong, Hangs: c.hangs, Code: c.code},
				row{Seed: o.Seed, Agreements: o.Agreements, Failures: o.Failures, Wrong: o.Wrong, Hangs: o.Hangs, Code: o.Code})
			assert.Equal(t, !o.right(), strings.Contains(o.transcript, " run --timeout "), o.transcript)
		})
	}
	j := job{goulfm: filepath.Join(t.TempDir(), "none"), options: options{n: 2}}
	_, err := j.run(t.Context(), 1, time.Second, func(progress) {})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestStandstillIsKilled: a launcher that ends neither by its own timeout nor by SIGTERM.
func TestStandstillIsKilled(t *testing.T) {
	longtest.Skip(t, "a launcher has ten seconds to end a job")
	j := job{options: options{n: 4, every: time.Second, grace: 100 * time.Millisecond}, goulfm: script(t, "trap '' TERM\nwhile :; do sleep 1; done"), self: "x"}
	o, err := j.run(t.Context(), 1, 100*time.Millisecond, func(progress) {})
	require.NoError(t, err)
	assert.EqualValues(t, 1, o.Hangs)
	assert.Equal(t, -1, o.Code)
}

func TestSummary(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "pieces.csv")
	hung := someRow(2, 7, 8)
	hung.Hangs = 1
	logged(t, name, someRow(1, 6010, 100), hung, someRow(3, 3005, 100))
	page := filepath.Join(dir, "page.md")
	require.NoError(t, os.WriteFile(page, []byte("# Page\n\n<!-- table -->\n"), 0o600))
	var out strings.Builder
	code, err := drive(options{summary: true, log: name, table: page}, &out)
	require.NoError(t, err)
	assert.Zero(t, code)
	for _, line := range []string{
		"| long | agreements | 969739 | 9015 |\n",
		"| long | failed and replaced processes | 146213 | 200 |\n",
		"| long | seconds | 86400 | 902 (pieces: 3) |\n",
		"| long | agreements a second | 11.2 | 10.0 |\n",
		"| long | wrong results; hangs | 0; 0 | 0; 1 |\n",
		"| long | launcher, resident KiB: smallest start, largest end |  | 100, 290 |\n",
		"| long | growth after the first tenth of a piece, KiB: largest |  | 90 |\n",
		"| long | the same for each replaced process, in bytes: mean |  | 1024.0 |\n",
		"| long | machine | 16 nodes of 8 cores, 128 processes | X, \"Y\" (pieces: 3) |\n",
	} {
		assert.Contains(t, out.String(), line)
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), out.String())
	data, err := os.ReadFile(filepath.Join(dir, "long.csv"))
	require.NoError(t, err)
	assert.Equal(t, "series,\"replaced processes, over all pieces\",resident KiB\n"+
		"\"launcher: start, after a tenth, and end of each piece\",0,100\n"+
		"\"launcher: start, after a tenth, and end of each piece\",10,200\n"+
		"\"launcher: start, after a tenth, and end of each piece\",100,290\n"+
		"\"launcher: start, after a tenth, and end of each piece\",100,100\n"+
		"\"launcher: start, after a tenth, and end of each piece\",110,200\n"+
		"\"launcher: start, after a tenth, and end of each piece\",200,290\n"+
		"largest rank of each piece,100,50\nlargest rank of each piece,200,50\n", string(data))
	assert.FileExists(t, filepath.Join(dir, "long.svg"))

	logged(t, filepath.Join(dir, "empty.csv"))
	require.NoError(t, summarize(options{log: filepath.Join(dir, "empty.csv")}, io.Discard))
	require.ErrorIs(t, summarize(options{log: filepath.Join(dir, "none.csv")}, io.Discard), os.ErrNotExist)
}

// TestAsAUserDoes runs two pieces of three seconds. Then it kills a driver in its third piece by
// SIGKILL: the job ends, and the log keeps the two rows.
func TestAsAUserDoes(t *testing.T) {
	longtest.Skip(t, "two pieces of three seconds, and a driver that is killed")
	place, err := trial.Open("long", "", time.Minute)
	require.NoError(t, err)
	defer place.Close()
	name := filepath.Join(t.TempDir(), "pieces.csv")
	long := func(flags string) *exec.Cmd {
		args := append([]string{"long", "-goulfm", place.Goulfm, "-log", name}, strings.Fields(flags)...)
		return exec.CommandContext(t.Context(), place.Self, args...)
	}
	for range 2 {
		out, err := long("-piece 3s -for-all 3s -n 4").CombinedOutput()
		require.NoError(t, err, string(out))
	}
	rows := rowsOf(t, name)
	require.Len(t, rows, 2)
	for i, r := range rows {
		assert.EqualValues(t, i+1, r.Seed)
		assert.True(t, r.right() && r.Code == 0 && r.Seconds >= 3 && r.Agreements > 0 && r.Failures > 0, "%+v", r)
		if runtime.GOOS == "linux" {
			assert.True(t, r.Start > 0 && r.Tenth > 0 && r.End > 0 && r.Rank > 0, "%+v", r)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}

	driver := long("-piece 1m -n 4")
	driver.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	require.NoError(t, driver.Start())
	pid := driver.Process.Pid
	require.Eventually(t, func() bool { return len(procfs.Descendants(pid)) >= 5 }, time.Minute, 10*time.Millisecond)
	job := procfs.Descendants(pid)
	require.NoError(t, driver.Process.Signal(syscall.SIGKILL))
	require.Error(t, driver.Wait())
	for _, pid := range job {
		assert.Eventually(t, func() bool { return procfs.Program(pid) == "" }, time.Minute, 10*time.Millisecond, "process %d has outlived the driver", pid)
	}
	assert.Equal(t, rows, rowsOf(t, name))
}
