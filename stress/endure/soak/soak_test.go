package soak

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-rounds 5 -samples 5": true, "-rounds 4 -samples 5": false, "-samples 0": false, "x": false, "-frob": false,
	})
}

// TestAmongGoroutines lets rank 0 measure the one process of all four ranks. Their remains count
// four times there.
func TestAmongGoroutines(t *testing.T) {
	const n = 4
	o := options{rounds: 900, samples: 3} // 300 to warm up: all 63 blocks have been used then
	if testing.Short() || !longtest.On() {
		o = options{rounds: 300, samples: 1}
	}
	commtest.Run(t, n, func(ctx context.Context, c *comm.Comm) {
		var out strings.Builder
		s := newSoak(c, o, &out, func() sample {
			if c.Rank() > 0 {
				return sample{}
			}
			m := measure()
			m[0] = 0  // it includes the whole test
			m[1] /= n // of four ranks
			return m
		})
		if err := s.run(ctx); err != nil {
			t.Errorf("rank %d: %v\n%s", c.Rank(), err, &out)
		}
		rounds := o.rounds / o.samples * (o.samples + 1)
		if s.shrinks != rounds || s.agreements != perRound*rounds+settling*(o.samples+1) || s.dups == 0 || s.dups != s.splits {
			t.Errorf("rank %d: %d shrinks, %d agreements, %d dups, %d splits in %d rounds", c.Rank(), s.shrinks, s.agreements, s.dups, s.splits, rounds)
		}
		if lines := strings.Count(out.String(), "\n"); c.Rank() == 0 && lines != 2+o.samples+1+1 {
			t.Errorf("%d lines\n%s", lines, &out)
		}
	})
}

// TestSpecR42R58FreedIsForgotten runs a short soak as a user does.
func TestSpecR42R58FreedIsForgotten(t *testing.T) {
	longtest.Skip(t, "a job of some hundred rounds")
	dir := t.TempDir()
	goulfm, endure := filepath.Join(dir, "goulfm"), filepath.Join(dir, "endure")
	for name, pkg := range map[string]string{goulfm: "github.com/goulfm/goulfm/cmd/goulfm", endure: "github.com/goulfm/goulfm/stress/endure"} {
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", name, pkg).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	out, err := exec.CommandContext(t.Context(), goulfm, "run", "-q", "-n", "4", "--timeout", "60s", endure, "soak", "-rounds", "300", "-samples", "3").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "may grow by") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A loop that leaves remains is detected.
func TestGrowthIsSeen(t *testing.T) {
	if bad := growth(sample{}, limits(100), 100); bad != "" {
		t.Errorf("within the limits: %s", bad)
	}
	for i, q := range quantities {
		last := limits(100)
		last[i]++
		if bad := growth(sample{}, last, 100); !strings.Contains(bad, q.name) {
			t.Errorf("%s beyond its limit: %q", q.name, bad)
		}
	}
	if few, many := limits(0), limits(10_000); many[1]-few[1] != 10_000*placeBytes>>10 || many[2] != 0 {
		t.Errorf("limits %v, and for 10,000 communicators %v", few, many)
	}
	commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) {
		grows := int64(0)
		s := newSoak(c, options{rounds: 4, samples: 2}, io.Discard, func() sample { grows++; return sample{2: grows} })
		if err := s.run(ctx); !trial.IsBroken(err) {
			t.Errorf("a goroutine more in each row is taken for nothing: %v", err)
		}
	})
}

func TestMeasure(t *testing.T) {
	count, size := segments("7f00-9f00 rw-s 0 00:01 7 /memfd:a (deleted)\n1000-2000 r-xp 0 0 0 /bin/x\nb000-c000 r--s 0 0 0 y\nodd\n")
	if count != 2 || size != 12 {
		t.Errorf("%d shared maps of %d KiB", count, size)
	}
	m := measure()
	if runtime.GOOS == "linux" && (m[0] < 1000 || m[3] < 3) || m[1] < 10 || m[2] < 2 {
		t.Errorf("%v", m)
	}
	before := m[1]
	kept := make([]byte, 8<<20)
	if m = measure(); m[1] < before+8000 {
		t.Errorf("8 MiB more: heap %d, was %d", m[1], before)
	}
	runtime.KeepAlive(kept)
}
