package busy

import (
	"context"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

var long = flag.Bool("long", false, "compute for a minute, in each way of finding deaths (six minutes)")

func TestMain(m *testing.M) { trial.RunTests(m, Main, "busy") }

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{"": true, "-n 2 -for 1s": true, "-n 1": false, "-for 0s": false, "x": false, "-frob": false})
}

// patient are the ways with the shortest time until a suspicion, with limits that hold even if
// other programs leave this machine's ranks almost no time: a rank without time is silent, too.
var patient = [][]string{
	{"--suspect-after", "2s", "-x", "GOMAXPROCS=1"},
	{"--detector", "ring", "--period", "500ms", "-x", "GOMAXPROCS=1"},
}

// TestNobodyIsSuspected: no rank suspects a silent rank that is alive; with the flag -long for a
// minute, with the limits as they are. With one thread the silent rank has none to spare for a sign
// of life except the time that the runtime takes from its loops.
func TestNobodyIsSuspected(t *testing.T) {
	if !*long {
		longtest.Skip(t, "ranks compute for five seconds each way")
	}
	o, some := options{n: 4, long: 5 * time.Second}, patient
	if *long {
		o.long, some = time.Minute, ways
	}
	var out strings.Builder
	code, err := drive(o, some, &out)
	if code != 0 || err != nil {
		t.Errorf("code %d, %v\n%s", code, err, &out)
	}
	if *long {
		t.Log(out.String())
	}
}

func TestCheckSeesViolations(t *testing.T) {
	for _, c := range []struct {
		name   string
		r      trial.Result
		isGood bool
	}{
		{"right", trial.Result{Took: 2 * time.Second}, true},
		{"suspected", trial.Result{Took: 2 * time.Second, Stderr: `{"event":"suspect","rank":1,"ranks":[3]}` + "\n"}, false},
		{"killed", trial.Result{Took: 2 * time.Second, Stderr: `{"event":"death","rank":3,"cause":"killed (SIGKILL)"}` + "\n"}, false},
		{"too short", trial.Result{Took: time.Millisecond}, false},
	} {
		if bad := check(&c.r, time.Second); (bad == "") != c.isGood || verdict(bad) == "" {
			t.Errorf("%s: %q", c.name, bad)
		}
	}
}

// A dead rank is not taken for one that computes.
func TestTakeSeesTheDead(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if err := take(ctx, w, time.Millisecond); err != nil {
			t.Error(err)
		}
	})
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			commtest.Kill(w)
		}
		if take(ctx, w, time.Millisecond) == nil {
			t.Error("nobody is missed")
		}
	})
}
