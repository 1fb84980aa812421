package noise

import (
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

func TestTable(t *testing.T) {
	tab := newTable([]time.Duration{time.Millisecond}, []time.Duration{time.Second})
	// Three rounds, each twice as slow as the one before: only ratios of one
	// round mean something.
	for round := range 3 {
		slow := float64(int(1) << round)
		for s, v := range []float64{10, 11, 12, 10.1} {
			tab.add(s, record.Record{Bench: "latency", N: 2, Size: 8, Unit: record.Micros, Batches: []float64{v * slow, 1000 * slow, v * slow}})
			tab.add(s, record.Record{Bench: "bandwidth", N: 2, Size: 8, Unit: record.MBps, Batches: []float64{1100 / v / slow}})
		}
	}
	var out strings.Builder
	if err := tab.print(&out); err != nil {
		t.Fatal(err)
	}
	want := `# overhead    n     size         none             1ms      s1s     none
latency       2        8       20.000 us        10.0%    20.0%     1.0%
bandwidth     2        8       55.000 MB/s      10.0%    20.0%     1.0%
# more time than without heartbeats; s1s: ranks count, and are suspected after 1 s without; the last column is a second run without: the spread
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

func TestFlags(t *testing.T) {
	if f := (setting{}).flags(); f != nil {
		t.Error(f)
	}
	if got := strings.Join(setting{suspect: time.Second}.flags(), " "); got != "--suspect-after 1s" {
		t.Error(got)
	}
	for period, want := range map[time.Duration]string{
		time.Millisecond: "--detector ring --period 1ms --timeout-factor 2000",
		time.Second:      "--detector ring --period 1s --timeout-factor 4",
	} {
		if got := strings.Join(setting{period: period}.flags(), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-periods", "1ms,2s"})
	if err != nil || len(o.periods) != 2 || o.periods[1] != 2*time.Second || len(o.suspect) != 2 {
		t.Errorf("%+v %v", o, err)
	}
	if o, err := parse([]string{"-periods", "", "-suspect", "1s"}); err != nil || o.periods != nil || len(o.suspect) != 1 {
		t.Errorf("%+v %v", o, err)
	}
	for _, args := range []string{"-suspect 1", "-periods x", "-periods 0s", "-n 1", "-rounds 0", "-time 0s", "more"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
}
