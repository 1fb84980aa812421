package heat

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

func TestDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	form := regexp.MustCompile(`^--kill (\d+)@(step=\d+|repair=1|[\d.]+[a-zµ]+)$`)
	count := map[string]int{one: 1, together: 2, inRepair: 2, neighbours: 2, three: 3, four: 4}
	for i := range 600 {
		kind, n := kinds[i%len(kinds)], 6+i%5
		d := draw(rng, kind, n, 50, 200*time.Millisecond)
		if len(d.kills) != 2*count[kind] {
			t.Fatalf("%s: %v", kind, d.kills)
		}
		var ranks []int
		var when []string
		for flag := range slices.Chunk(d.kills, 2) {
			k := strings.Join(flag, " ")
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
		r    trial.Result
		bad  string
	}{
		{"right", trial.Result{Stdout: "step 20\n" + good + "\nbye\n"}, ""},
		{"right, twice", trial.Result{Stdout: good + "\n" + good + "\n"}, ""},
		{"nothing", trial.Result{Stdout: "step 20\n"}, "no result"},
		{"cut short", trial.Result{Stdout: good[:len(good)-1] + "\n"}, "no result"},
		{"another", trial.Result{Stdout: other + "\n"}, "got"},
		{"two", trial.Result{Stdout: good + "\n" + other + "\n"}, "two different"},
		{"what trial finds wrong", trial.Result{Stdout: good + "\n", Hung: true}, "hung"},
	} {
		if bad := judge(&c.r, good); (bad == "") != (c.bad == "") || !strings.Contains(bad, c.bad) {
			t.Errorf("%s: judged %q, want %q", c.name, bad, c.bad)
		}
	}
}

func TestReport(t *testing.T) {
	out := "repair: 8 -> 7 ranks, lost [3], back to step 30 (copy), 12.3 ms\nstep 40\n" +
		"repair: 7 -> 5 ranks, lost [1 2], back to step 0 (a block and its copy are both lost), 2 tries, 1.0 ms\n"
	if got, want := reportOf(out), (report{repairs: 2, lost: 3, restarts: 1, inRepair: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-runs 3 -n 6 -- -nx 512": true, "-n 5": false, "-runs 0": false, "-timeout 0s": false, "-frob": false,
	})
	for args, want := range map[string]string{"": "-tol 1e-3", "-n 6 -- -nx 9": "-nx 9", "-n 6 x": "x"} {
		if o, err := parse(strings.Fields(args), io.Discard); err != nil || strings.Join(o.args, " ") != want || o.seed == 0 {
			t.Errorf("%q: heat gets %q, seed %d, %v", args, o.args, o.seed, err)
		}
	}
}

// TestAsAUserDoes runs each kind once.
func TestAsAUserDoes(t *testing.T) {
	o, err := parse([]string{"-runs", fmt.Sprint(len(kinds)), "-seed", "1"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if code, err := drive(o, &out); code != 0 || err != nil {
		t.Errorf("code %d, %v\n%s", code, err, &out)
	}
	if want := fmt.Sprintf("%-29s %5d %6d ", "all", len(kinds), len(kinds)); !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, &out)
	}
}

// A script stands for the launcher: it prints a result, and ends correctly once, as the run without
// deaths.
func TestWrongRunsAreTold(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "goulfm")
	body := fmt.Sprintf("#!/bin/sh\necho '%s'\ntest -e %s/calm && exit 1\ntouch %s/calm\n", good, dir, dir)
	if err := os.WriteFile(script, []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"-runs", "2", "-seed", "1", "-goulfm", script, "-heat", "./heat"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if code, err := drive(o, &out); code != 1 || err != nil {
		t.Errorf("code %d, %v", code, err)
	}
	for _, want := range []string{"heat: 2 runs on 8 ranks, seed 1\n", "\nrun 0 (one) is wrong: ended with exit status 1\n$ " + script + " run ",
		" --timeout 1m0s --kill ", " ./heat -tol 1e-3\n" + good, "\nrun 1 (two at once) is wrong: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if _, err := drive(o, io.Discard); err == nil || !strings.Contains(err.Error(), "the run without deaths: ended with exit status 1") {
		t.Errorf("nothing to compare with: %v", err)
	}
}
