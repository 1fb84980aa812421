package massdeath

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

func TestMain(m *testing.M) { trial.RunTests(m, Main, "massdeath") }

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-jobs 3 -n 2 -case split": true, "-n 4 -die 3": true, "-n 4 -die 4": false, "-n 1": false, "-die -1": false,
		"-case none": false, "-span 0s": false, "-jobs 0": false, "x": false, "-frob": false,
	})
	if o, err := parse(nil, io.Discard); err != nil || o.die != 32 {
		t.Errorf("%d are to die, %v", o.die, err)
	}
}

func opts(kind string, n, die int, seed uint64) options {
	return options{Flags: trial.Flags{Seed: seed}, n: n, die: die, kind: kind, span: 100 * time.Millisecond}
}

func TestDraw(t *testing.T) {
	for _, kind := range cases {
		var places [atShrink + 1]int
		kills := 0
		for seed := range uint64(50) {
			o := opts(kind, 20, 11, seed)
			deaths := draw(o)
			if again := draw(o); !reflect.DeepEqual(deaths, again) || len(deaths) != o.dying() {
				t.Fatalf("%s: %d deaths, %v and then %v", kind, len(deaths), deaths, again)
			}
			begun := [waves]bool{}
			for rank, d := range deaths {
				places[d.where]++
				if d.kill {
					kills++
				}
				if rank < 0 || rank >= 20 || d.after < 0 || d.after >= o.span || d.phase < 0 || d.phase >= waves || d.kill && d.where != anywhere && names[d.where] == "" {
					t.Fatalf("%s: rank %d: %+v", kind, rank, d)
				}
				begun[d.phase] = begun[d.phase] || d.where == inWork
			}
			if kind == recovery && slices.Contains(begun[:], false) {
				t.Fatalf("a phase of %v has no end", deaths)
			}
		}
		if want := kind == recovery; slices.Contains(places[1:], 0) == want || (places[anywhere] == 0) != want || kills == 0 {
			t.Errorf("%s: places %v, %d kills", kind, places, kills)
		}
	}
	if n := len(draw(opts(almost, 9, 4, 1))); n != 8 {
		t.Errorf("%d of 9 die, want all but one", n)
	}
}

func TestFlagsOfTheLauncher(t *testing.T) {
	got := flags(map[int]death{
		1: {after: 3 * time.Millisecond, kill: true}, 2: {after: time.Second}, 3: {where: atShrink, phase: 2, kill: true}, 0: {where: atRevoke, kill: true},
	}, 4)
	if want := "--kill 0@revoke=0 --kill 1@3ms --kill 3@shrink=2"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAmongGoroutines lets each rank that the launcher would kill at an instant die by itself;
// nobody is killed at a point.
func TestAmongGoroutines(t *testing.T) {
	for _, kind := range []string{half, almost, split, recovery} {
		for seed := range uint64(5) {
			o := opts(kind, 8, 4, seed)
			o.span = 5 * time.Millisecond
			var mu sync.Mutex
			var out strings.Builder
			commtest.Run(t, o.n, func(ctx context.Context, c *comm.Comm) {
				var mine strings.Builder
				m := newMember(c, o, &mine, func() { commtest.Kill(c) })
				if d := m.mine; d != nil && d.kill {
					if d.kill = false; names[d.where] != "" {
						d.where = inWork
					}
				}
				if err := m.run(ctx); err != nil && !errors.Is(err, comm.ErrFenced) {
					t.Errorf("%s, seed %d, rank %d: %v", kind, seed, c.Rank(), err)
				}
				mu.Lock()
				defer mu.Unlock()
				out.WriteString(mine.String())
			})
			a := read(out.String())
			want := map[int]int{}
			for rank := range o.n {
				if _, dies := draw(o)[rank]; !dies {
					want[rank] = o.n - o.dying()
				}
			}
			if !reflect.DeepEqual(a.members, want) {
				t.Errorf("%s, seed %d: %v, want %v", kind, seed, a.members, want)
			}
		}
	}
}

// TestSpecR1R37R56R62HalfOfTheJobDies runs some jobs of each case as a user does: all
// survivors end, with one communicator and the same outcomes of Split, and leave Finalize.
func TestSpecR1R37R56R62HalfOfTheJobDies(t *testing.T) {
	jobs, n := 2*len(cases), "16"
	if testing.Short() {
		jobs, n = len(cases), "12"
	}
	o, err := parse([]string{"-jobs", fmt.Sprint(jobs), "-n", n, "-span", "50ms", "-seed", "1"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if code, err := drive(o, &out); code != 0 || err != nil {
		t.Errorf("code %d, %v\n%s", code, err, &out)
	}
	for _, kind := range cases {
		if !strings.Contains(out.String(), fmt.Sprintf("\n%-9s jobs %d, ", kind, jobs/len(cases))) {
			t.Errorf("no row of %q in\n%s", kind, &out)
		}
	}
}

// The checks must find the violations for which they exist.
func TestCheckSeesViolations(t *testing.T) {
	o := opts(half, 3, 1, 1)
	var dead int
	for rank := range draw(o) {
		dead = rank
	}
	ends := func(rank, members int) string {
		return fmt.Sprintf("massdeath: rank %d ends with %d members after 1 repairs\n", rank, members)
	}
	finalized := func(rank int) string { return fmt.Sprintf("massdeath: rank %d finalized\n", rank) }
	died := func(rank int) string {
		return fmt.Sprintf(`{"event":"death","at":2,"rank":%d,"cause":"killed (SIGKILL)","latencyMs":500}`+"\n", rank)
	}
	a, b := (dead+1)%3, (dead+2)%3
	good := ends(a, 2) + ends(b, 2) + finalized(a) + finalized(b)
	shrunk := `{"event":"shrink","at":1.75}` + "\n"
	for _, c := range []struct {
		name           string
		kind           string
		stdout, stderr string
		isGood         bool
	}{
		{"right", half, good, shrunk + died(dead), true},
		{"another size", half, ends(a, 2) + ends(b, 1) + finalized(a) + finalized(b), died(dead), false},
		{"one is silent", half, ends(a, 2) + finalized(a) + finalized(b), died(dead), false},
		{"Finalize did not return", half, ends(a, 2) + ends(b, 2) + finalized(b), died(dead), false},
		{"nobody is dead", half, good, "", false},
		{"another one is dead", half, ends(dead, 2) + ends(b, 2) + finalized(dead) + finalized(b), died(a), false},
		{"anybody may die in Init", inInit, ends(dead, 2) + ends(b, 2) + finalized(dead) + finalized(b), died(a), true},
		{"he who is dead counts in Init", inInit, ends(dead, 3) + ends(b, 3) + finalized(dead) + finalized(b), died(a), false},
		{"all have ended before Finalize", finalize, ends(a, 3) + ends(b, 3) + ends(dead, 3) + finalized(a) + finalized(b), died(dead), true},
		{"all live on after Finalize", finalize, ends(a, 3) + ends(b, 3) + ends(dead, 3) + finalized(a) + finalized(b), "", true},
		{"one dies too early for that", finalize, ends(a, 3) + ends(b, 3) + finalized(a) + finalized(b), died(dead), false},
		{"another one dies in Finalize", finalize, ends(a, 3) + ends(b, 3) + ends(dead, 3) + finalized(b), died(a), false},
	} {
		o.kind = c.kind
		s := new(times)
		bad := o.check(&trial.Result{Stdout: c.stdout, Stderr: c.stderr}, s)
		if (bad == "") != c.isGood {
			t.Errorf("%s: %q", c.name, bad)
		}
		if c.name == "right" && (s.jobs != 1 || s.deaths != 1 || s.repairs != 1 || !slices.Equal(s.all, []time.Duration{250 * time.Millisecond})) {
			t.Errorf("%+v", s)
		}
	}
}

// TestMembersSeeViolations holds members against communicators that are not theirs.
func TestMembersSeeViolations(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, c *comm.Comm) {
		o := opts(half, 3, 1, 1)
		m := newMember(c, o, io.Discard, nil)
		if err := m.last(ctx); err != nil {
			t.Error(err)
		}
		if m.note("split", c.Rank() == 1); !trial.IsBroken(m.last(ctx)) {
			t.Error("another history is not seen")
		}
		m = newMember(c, o, io.Discard, nil)
		if c.Rank() == 2 {
			m.members = []int{0, 2}
		}
		if !trial.IsBroken(m.last(ctx)) {
			t.Error("another list of members is not seen")
		}
		m = newMember(c, o, io.Discard, nil)
		next, err := c.Shrink(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !trial.IsBroken(m.moveTo(next)) {
			t.Error("a repair that left nobody out is not seen")
		}
		m = newMember(c, o, io.Discard, nil)
		m.members = []int{0, 1, 2, 3}
		if err := m.moveTo(next); err != nil {
			t.Error(err)
		}
		m.members = []int{1, 2, 3, 4}
		if !trial.IsBroken(m.moveTo(next)) {
			t.Error("a member that comes from nowhere is not seen")
		}
	})
}
