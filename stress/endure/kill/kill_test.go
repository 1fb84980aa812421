package kill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

func TestMain(m *testing.M) { trial.RunTests(m, Main, "kill") }

func TestDraw(t *testing.T) {
	victims := map[int]int{}
	for number := range 300 {
		o := options{n: 5, seed: 3, span: 100 * time.Millisecond}
		j := o.draw(number)
		seen := map[string]bool{}
		for k := range slices.Chunk(j.kills, 2) {
			who, when, _ := strings.Cut(k[1], "@")
			rank, err := strconv.Atoi(who)
			at, err2 := time.ParseDuration(when)
			if err != nil || err2 != nil || k[0] != "--kill" || rank < 0 || rank >= 5 || seen[who] || at < 0 || at > 120*time.Millisecond {
				t.Fatalf("job %d: %v", number, j.kills)
			}
			seen[who] = true
		}
		victims[len(seen)]++
		if again := o.draw(number); fmt.Sprint(again) != fmt.Sprint(j) {
			t.Fatalf("job %d is %v, and then %v", number, j, again)
		}
	}
	for n := 1; n <= 4; n++ {
		if victims[n] == 0 {
			t.Errorf("no job with %d victims: %v", n, victims)
		}
	}
	if len(victims) != 4 {
		t.Errorf("victims %v, want from 1 to 4", victims)
	}
}

// TestAmongGoroutines does the work of a job, undisturbed and with a death: no fault is found, and
// all ranks that reach the end have done the same.
func TestAmongGoroutines(t *testing.T) {
	const n, seed, span = 4, 7, 20 * time.Millisecond
	var mu sync.Mutex
	var ends []*worker
	body := func(ctx context.Context, c *comm.Comm) {
		w := newWorker(c, seed, span)
		err := w.run(ctx)
		if err != nil && !errors.Is(err, comm.ErrFenced) {
			t.Errorf("rank %d: %v", c.Rank(), err)
		}
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			ends = append(ends, w)
		}
	}
	check := func(what string, survivors, repairs int) {
		if len(ends) != survivors {
			t.Fatalf("%s: %d ranks came to the end, want %d", what, len(ends), survivors)
		}
		for _, w := range ends {
			if w.batches != ends[0].batches || w.history != ends[0].history || w.repairs != repairs || w.ops == 0 {
				t.Errorf("%s: rank %d: %d batches, %d operations, %d repairs, want %d", what, w.me, w.batches, w.ops, w.repairs, repairs)
			}
		}
		ends = nil
	}
	commtest.Run(t, n, body)
	check("undisturbed", n, 0)
	for _, frame := range []uint64{3, 20, 100, 200} {
		if commtest.RunKilled(t, n, 1, frame, body) {
			check(fmt.Sprint("killed before frame ", frame), n-1, 1)
		} else {
			check("not killed", n, 0)
		}
	}
}

// The checks must detect each kind of violation.
func TestChecksSeeViolations(t *testing.T) {
	const op = 99
	v := words(op, 2, 100)
	if at := wrongAt(v, op, 2); at != -1 {
		t.Errorf("wrong at %d", at)
	}
	for _, bad := range []int{wrongAt(v, op+1, 2), wrongAt(v, op, 3), wrongAt(v[1:], op, 2)} {
		if bad != 0 {
			t.Errorf("another operation, rank or place is taken for this: %d", bad)
		}
	}
	sum := words(op, 2, 100)
	for i, x := range words(op, 5, 100) {
		sum[i] += x
	}
	if at := wrongSumAt(sum, op, []int{2, 5}); at != -1 {
		t.Errorf("wrong sum at %d", at)
	}
	if wrongSumAt(sum, op, []int{2, 5, 6}) != 0 || wrongSumAt(sum, op, []int{2}) != 0 {
		t.Error("the sum of others is taken for this one")
	}

	members := []int{0, 2, 3}
	all := presence(0) & presence(2) & presence(3)
	var h history
	h.add("x")
	h.endBatch()
	h.endBatch()
	stamp := h.stamp()
	other := stamp ^ 1<<hashAt ^ 1<<(hashAt+hashBits)
	for _, c := range []struct {
		name   string
		flag   uint64
		failed bool
		bad    bool
	}{
		{"all", all | stamp | flagGood, false, false},
		{"all, and one fails later", all | stamp, true, false},
		{"one is missing, with a failure", presence(0)&presence(2) | stamp, true, false},
		{"one is missing, without", presence(0)&presence(2) | stamp, false, true},
		{"this one is missing", presence(0)&presence(3) | stamp, true, true},
		{"a stranger", all&presence(1) | stamp, true, true},
		{"another past", all | stamp&other, false, true},
	} {
		if bad := checkBatch(c.flag, c.failed, stamp, 2, members); (bad != "") != c.bad {
			t.Errorf("%s: %q", c.name, bad)
		}
	}
}

// fakeDeath is the output of the launcher about a rank that it has killed.
const fakeDeath = `{"event":"death","rank":1,"cause":"killed (SIGKILL)","planned":"3ms"}` + "\n"

func TestJudge(t *testing.T) {
	exit := func(code int) error { return exec.Command("sh", "-c", fmt.Sprint("exit ", code)).Run() }
	for _, c := range []struct {
		name string
		r    trial.Result
		bad  string
		want tally
	}{
		{"right", trial.Result{Stderr: fakeDeath}, "", tally{right: 1, kills: 1}},
		{"hung", trial.Result{Hung: true, Err: exit(124)}, "hung", tally{hangs: 1}},
		{"a broken promise", trial.Result{Err: exit(trial.CodeWrong)}, trial.BrokenPromise, tally{wrong: 1}},
		{"an error", trial.Result{Err: exit(1)}, "exit status 1", tally{failed: 1}},
		{"a rank ended by itself", trial.Result{Stderr: fakeDeath + `{"event":"death","cause":"exit code 1"}`}, "lost", tally{failed: 1, kills: 1}},
		{"a rank was killed by another one", trial.Result{Stderr: fakeDeath + `{"event":"death","cause":"killed (SIGKILL)"}`}, "lost", tally{failed: 1, kills: 1}},
		{"left", trial.Result{Left: []string{"file x"}}, "file x", tally{leftovers: 1}},
	} {
		var all tally
		if bad := all.add(&c.r); bad == "" != (c.bad == "") || !strings.Contains(bad, c.bad) {
			t.Errorf("%s: judged %q, want %q", c.name, bad, c.bad)
		}
		c.want.jobs, c.want.byVictims[c.want.kills] = 1, 1
		if all != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, all, c.want)
		}
	}
}

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-kills 3 -n 2": true, "-rank -seed 2": true, "-calm -jobs 1": true, "-calm -rank": true, "-calm": false, "-n 1": false,
		"-n 31": false, "-kills 0": false, "-jobs -1": false, "-first -1": false, "-span 0s": false, "-span 1m": false, "x": false, "-frob": false,
	})
}

// TestAsAUserDoes runs some jobs, with both agreements.
func TestAsAUserDoes(t *testing.T) {
	for _, launch := range []string{"", "--agree era"} {
		o, err := parse([]string{"-jobs", "4", "-n", "5", "-seed", "1", "-launch", launch}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if code, err := drive(o, &out); code != 0 || err != nil {
			t.Errorf("code %d, %v\n%s", code, err, &out)
		}
		if want := "jobs=4 right=4 kills="; !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// told runs a script in place of the launcher, and returns the report on the jobs, one or all of
// which are wrong.
func told(t *testing.T, script string, args ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "goulfm")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	o, err := parse(append([]string{"-n", "3", "-seed", "1", "-goulfm", name}, args...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if code, err := drive(o, &out); code != 1 || err != nil {
		t.Errorf("code %d, %v\n%s", code, err, &out)
	}
	return out.String()
}

// The command ends when the number of kills is reached, and each job leaves something.
func TestWrongJobsAreTold(t *testing.T) {
	out := told(t, "echo '"+strings.TrimSpace(fakeDeath)+"' >&2\ntouch $TMPDIR/x\n", "-kills", "2", "-launch", "--agree era")
	for _, want := range []string{"kill: jobs of 3 ranks and 150ms, seed 1\n", "job 0 is wrong: left behind: file x; -seed 1 -first 0 -jobs 1 -n 3 -span 150ms\n$ ",
		" --agree era --kill ", "job 1 is wrong: ", "jobs=2 right=0 kills=2 hangs=0 wrong=0 failed=0 leftovers=2\n", "\njobs by ranks killed: 1:2\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestEnough(t *testing.T) {
	out := told(t, "exit 1\n")
	if want := fmt.Sprintf("kill: enough\njobs=%d right=0 kills=0 hangs=0 wrong=0 failed=%d ", wrongMax, wrongMax); !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}
