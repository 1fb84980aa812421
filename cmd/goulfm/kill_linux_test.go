package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestKillBeforeEveryStore runs a program that uses every protocol, and kills one rank with SIGKILL
// before its k-th store to shared memory or wake-up (see failpoint), for every k up to the number
// of its stores. The survivors must always end, with the right data.
func TestKillBeforeEveryStore(t *testing.T) {
	longtest.Skip(t, "some hundred jobs")
	if testing.Short() {
		t.Skip("some hundred jobs")
	}
	t.Parallel()
	counted := build(t, "./testdata/prog", "-tags", "failpoints")
	const n = 3
	for victim := range n {
		t.Run(fmt.Sprint("rank ", victim), func(t *testing.T) {
			t.Parallel()
			killBeforeEveryStore(t, counted, n, victim)
		})
	}
}

// killBeforeEveryStore runs the jobs of one victim, one after the other: each is over before the
// next k.
func killBeforeEveryStore(t *testing.T, counted string, n, victim int) {
	t.Helper()
	killed := 0
	for k := 1; ; k++ {
		got := goulfmCommand(t, "", "run", "-q", "-n", fmt.Sprint(n), "--timeout", "60s", "-x", fmt.Sprintf("GOULFM_KILL_POINT=%d:%d", victim, k), counted, "everything")
		if got.code != 0 {
			t.Fatalf("rank %d killed before store %d: code %d\n%s%s", victim, k, got.code, got.out, got.err)
		}
		if strings.Contains(got.out, fmt.Sprintf("left %d\n", n)) {
			break // the rank made no k-th store, or died after its work
		}
		if !strings.Contains(got.out, fmt.Sprintf("left %d\n", n-1)) && victim != 0 {
			t.Fatalf("rank %d killed before store %d: %s%s", victim, k, got.out, got.err)
		}
		killed++
	}
	if killed < 50 {
		t.Errorf("rank %d was killed at %d points only", victim, killed)
	}
	t.Logf("rank %d: %d points", victim, killed)
}
