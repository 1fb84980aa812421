package job

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const line = `{"bench":"latency","n":2,"size":8,"unit":"us","batches":[1]}`

func sh(t *testing.T, limit time.Duration, script string) (Result, error) {
	t.Helper()
	return Run(t.Context(), limit, []string{"sh", "-c", script})
}

func TestRun(t *testing.T) {
	res, err := sh(t, time.Minute, "echo hello; echo '"+line+"'")
	if err != nil || len(res.Records) != 1 || res.Took <= 0 {
		t.Errorf("%+v %v", res, err)
	}
}

func TestRunThatFails(t *testing.T) {
	res, err := sh(t, time.Minute, "echo '"+line+"'; echo the reason >&2; exit 3")
	if len(res.Records) != 1 || err == nil || !strings.Contains(err.Error(), "the reason") {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := sh(t, time.Minute, "echo '{'"); err == nil {
		t.Error("half a line of JSON was accepted")
	}
	if _, err := Run(t.Context(), time.Minute, []string{"/no/such/program"}); err == nil {
		t.Error("a program that does not exist was run")
	}
}

// Background processes of the job end with it. Otherwise the pipe would stay open until their own
// end.
func TestRunHasALimit(t *testing.T) {
	start := time.Now()
	_, err := sh(t, 50*time.Millisecond, "sleep 100 & sleep 100; echo done")
	if !errors.Is(err, ErrLimit) || time.Since(start) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

func TestCommand(t *testing.T) {
	got := Bin{"/b"}.Command("p2p", 4, []string{"--period", "1ms"}, []string{"-json"})
	if want := strings.Fields("/b/goulfm run -q -n 4 --period 1ms /b/measure p2p -json"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	assert.Equal(t, strings.Fields("/b/goulfm run -q -n 2 /b/rma -ops put"), Bin{"/b"}.Program("rma", 2, nil, []string{"-ops", "put"}))
}

func TestCounts(t *testing.T) {
	if ns, err := Counts("2,8", 2); err != nil || !slices.Equal(ns, []int{2, 8}) {
		t.Error(ns, err)
	}
	for _, bad := range []string{"", "1", "2,", "x", "2 ,4"} {
		if ns, err := Counts(bad, 2); err == nil {
			t.Errorf("%q is %v", bad, ns)
		}
	}
}

func TestTail(t *testing.T) {
	if got := tail(" \n"); got != "" {
		t.Errorf("%q", got)
	}
	if got := tail("a\nb\n"); got != "\n\ta\n\tb" {
		t.Errorf("%q", got)
	}
	if got := tail(strings.Repeat("x", 2*tailMax)); len(got) > tailMax+10 || !strings.Contains(got, "...") {
		t.Errorf("%d bytes", len(got))
	}
}
