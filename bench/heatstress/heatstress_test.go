package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	form := regexp.MustCompile(`^(\d+)@(step=\d+|repair=1|[\d.]+[a-zµ]+)$`)
	count := map[string]int{one: 1, together: 2, inRepair: 2, neighbours: 2, three: 3, four: 4}
	for i := range 600 {
		kind, n := kinds[i%len(kinds)], 6+i%5
		d := draw(rng, kind, n, 50, 200*time.Millisecond)
		if len(d.kills) != count[kind] {
			t.Fatalf("%s: %v", kind, d.kills)
		}
		var ranks []int
		var when []string
		for _, k := range d.kills {
			m := form.FindStringSubmatch(k)
			if m == nil {
				t.Fatalf("kill %q", k)
			}
			var r int
			fmt.Sscan(m[1], &r)
			for _, other := range ranks {
				if r == other {
					t.Fatalf("rank %d dies twice: %v", r, d.kills)
				}
			}
			if at, err := time.ParseDuration(m[2]); r >= n || err == nil && at > 200*time.Millisecond {
				t.Fatalf("kill %q of %d ranks", k, n)
			}
			ranks, when = append(ranks, r), append(when, m[2])
		}
		switch kind {
		case neighbours:
			if ranks[1] != (ranks[0]+1)%n || when[0] != when[1] {
				t.Fatalf("%s: %v", kind, d.kills)
			}
		case together:
			if when[0] != when[1] {
				t.Fatalf("%s: %v", kind, d.kills)
			}
		case inRepair:
			if when[1] != "repair=1" {
				t.Fatalf("%s: %v", kind, d.kills)
			}
		}
	}
}

const good = "result: steps=242 residual=0x1.05p-10 checksum=00123456789abcde"

func TestJudge(t *testing.T) {
	other := strings.Replace(good, "0012", "0013", 1)
	for _, c := range []struct {
		name string
		run  run
		bad  string
	}{
		{"right", run{output: "step 20\n" + good + "\nbye\n"}, ""},
		{"right, twice", run{output: good + "\n" + good + "\n"}, ""},
		{"nothing", run{output: "step 20\n"}, "no result"},
		{"cut short", run{output: good[:len(good)-1] + "\n"}, "no result"},
		{"another", run{output: other + "\n"}, "got"},
		{"two", run{output: good + "\n" + other + "\n"}, "two different"},
		{"error", run{output: good + "\n", err: errors.New("exit status 1")}, "exit status 1"},
		{"hung", run{output: good + "\n", hung: true}, "hung"},
		{"left", run{output: good + "\n", left: []string{"process 7"}}, "left behind: process 7"},
	} {
		if bad := c.run.judge(good); (bad == "") != (c.bad == "") || !strings.Contains(bad, c.bad) {
			t.Errorf("%s: judged %q, want %q", c.name, bad, c.bad)
		}
	}
}

func TestStory(t *testing.T) {
	r := run{output: "repair: 8 -> 7 ranks, lost [3], back to step 30 (copy), 12.3 ms\nstep 40\n" +
		"repair: 7 -> 5 ranks, lost [1 2], back to step 0 (a block and its copy are both lost), 2 tries, 1.0 ms\n"}
	if got, want := r.story(), (story{repairs: 2, lost: 3, restarts: 1, inRepair: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A script stands in for the launcher: it prints a result, and leaves a file and a process.
func TestRunSeesWhatIsLeft(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("no /proc")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "goulfm")
	sleep, err := filepath.EvalSymlinks("/bin/sleep")
	if err != nil {
		t.Skip(err)
	}
	body := fmt.Sprintf("#!/bin/sh\necho '%s'\ntouch $TMPDIR/x\n%s 60 >/dev/null 2>&1 &\n", good, sleep)
	if err := os.WriteFile(script, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	j := &job{options: options{n: 8, timeout: time.Minute, goulfm: script, heat: sleep}, tmp: t.TempDir()}
	r := j.run(nil)
	bad := r.judge(good)
	if !strings.Contains(bad, "process") || !strings.Contains(bad, "file x") {
		t.Errorf("judged %q, want a process and a file left behind", bad)
	}
	if r := j.run([]string{"1@step=2"}); !strings.Contains(r.command, "run -n 8 --timeout 1m0s --kill 1@step=2 "+sleep) {
		t.Errorf("command %q", r.command)
	}
}
