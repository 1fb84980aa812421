package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

func TestDraw(t *testing.T) {
	victims := map[int]int{}
	for number := range 300 {
		d := &driver{options: options{n: 5, seed: 3, span: 100 * time.Millisecond}}
		j := d.draw(number)
		seen := map[string]bool{}
		for _, k := range j.kills {
			who, when, _ := strings.Cut(k, "@")
			rank, err := strconv.Atoi(who)
			at, err2 := time.ParseDuration(when)
			if err != nil || err2 != nil || rank < 0 || rank >= 5 || seen[who] || at < 0 || at > 120*time.Millisecond {
				t.Fatalf("job %d: %v", number, j.kills)
			}
			seen[who] = true
		}
		victims[len(seen)]++
		if again := d.draw(number); fmt.Sprint(again) != fmt.Sprint(j) {
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

// TestAmongGoroutines does the work of a job, undisturbed and with a death: nothing is
// found wrong, and the same is done by all who come to the end.
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

// The checks must see what they are there for.
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

// fakeDeath is what the launcher writes of one that it has killed.
const fakeDeath = `{"event":"death","rank":1,"cause":"killed (SIGKILL)","planned":"3ms"}` + "\n"

func TestJudge(t *testing.T) {
	exit := func(code int) error { return exec.Command("sh", "-c", fmt.Sprint("exit ", code)).Run() }
	for _, c := range []struct {
		name string
		r    result
		bad  string
	}{
		{"right", result{stderr: fakeDeath}, ""},
		{"hung", result{hung: true, err: exit(124)}, "hung"},
		{"wrong data", result{err: exit(codeWrong)}, "wrong data"},
		{"an error", result{err: exit(1)}, "exit status 1"},
		{"a rank ended by itself", result{stderr: fakeDeath + `{"event":"death","cause":"exit code 1"}`}, "lost"},
		{"left", result{left: []string{"file x"}}, "file x"},
	} {
		var all tally
		if bad := all.add(c.r); bad == "" != (c.bad == "") || !strings.Contains(bad, c.bad) {
			t.Errorf("%s: judged %q, want %q", c.name, bad, c.bad)
		}
		if all.jobs != all.right+all.hangs+all.wrong+all.failed+min(all.leftovers, 1) {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

// A script stands in for the launcher: it leaves a file and a process.
func TestRunSeesWhatIsLeft(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("no /proc")
	}
	sleep, err := filepath.EvalSymlinks("/bin/sleep")
	if err != nil {
		t.Skip(err)
	}
	script := filepath.Join(t.TempDir(), "goulfm")
	body := fmt.Sprintf("#!/bin/sh\necho '%s' >&2\ntouch $TMPDIR/x\n%s 60 >/dev/null 2>&1 &\n", strings.TrimSpace(fakeDeath), sleep)
	if err := os.WriteFile(script, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	d := &driver{options: options{n: 3, kills: 1, seed: 1, span: time.Millisecond, timeout: time.Minute, goulfm: script}, self: sleep, tmp: t.TempDir(), out: &out}
	if d.runAll() {
		t.Error("all is right")
	}
	for _, want := range []string{"left behind: process ", "file x", "-seed 1 -first 0 -jobs 1 ", "kills=1 hangs=0 wrong=0 failed=0 leftovers=2", " --kill "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	d.out = io.Discard
	if r := d.run(job{}); len(r.left) != 2 {
		t.Errorf("left: %v", r.left)
	}
}
