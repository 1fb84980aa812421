package cluster

import (
	"runtime"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/protocol/control"
)

// TestInMemory simulates agreements in shared memory, with random deaths.
func TestInMemory(t *testing.T) {
	total, err := RunMany(Options{Seed: *seed, Agree: Node}, runtime.NumCPU(), func(sum Total) bool { return sum.Agreements >= *agreements/2 })
	t.Logf("%+v", total)
	if err != nil {
		t.Fatal(err)
	}
	if total.Deaths == 0 || total.Revokes == 0 || total.Communicators == 0 || total.Plain < total.Agreements/10 || total.Fenced != 0 {
		t.Errorf("too tame, or inexact: %+v", total)
	}
}

// TestWhoAgreesInMemory: every other run with exact deaths agrees in memory, unless Options.Agree
// overrides this.
func TestWhoAgreesInMemory(t *testing.T) {
	for _, c := range []struct {
		options  Options
		detector Detector
		want     bool
	}{
		{Options{Seed: 1}, Exact, true},
		{Options{Seed: 2}, Exact, false},
		{Options{Seed: 1}, Ring, false},
		{Options{Seed: 1, Agree: Era}, Exact, false},
		{Options{Seed: 2, Agree: Node}, Exact, true},
	} {
		if got := c.options.inMemory(c.detector); got != c.want {
			t.Errorf("%+v, %v: %v", c.options, c.detector, got)
		}
	}
	for seed := range uint64(50) {
		s := newSimulation(Options{Seed: seed, Agree: Node, NMax: 4})
		if !s.swarm.memory || s.swarm.detector != Exact || !s.procs[0].rules.Plain(control.World) {
			t.Errorf("seed %d: %v", seed, s.swarm)
		}
	}
}

// TestAgreeIsPartOfTheReplay: the replay command has the flag -agree besides the seed.
func TestAgreeIsPartOfTheReplay(t *testing.T) {
	for a := Both; a <= Node; a++ {
		if back, err := ParseAgree(a.String()); err != nil || back != a {
			t.Errorf("%v is read as %v: %v", a, back, err)
		}
		if told := strings.Contains(Options{Agree: a}.flags(), "-agree "+a.String()); told != (a != Both) {
			t.Errorf("%v: flags %q", a, Options{Agree: a}.flags())
		}
	}
	if _, err := ParseAgree("nod"); err == nil {
		t.Error("read what is no way to agree")
	}
	s := newSimulation(Options{Seed: 1, Agree: Node})
	if _, err := ParseCase(strings.Replace(s.caseOf().Script(), "detector=exact", "detector=ring", 1)); err == nil {
		t.Error("a case in memory with heartbeats is admitted")
	}
}
