// Command detect measures the detector of silent processes (fd/adaptive, with the sockets of
// fd/beat) on a bad network. Emitters are processes, and one process observes them. Their datagrams
// pass through a third process, which loses some, delays them by a random time, and sometimes loses
// all (internal/net/faultproxy).
//
//	go run ./bench/detect                        # all three, a quarter of an hour
//	go run ./bench/detect -only kills -rounds 50
//	go run ./bench/detect -csv > detect.csv
//
// "follow": the network changes. The figure is the number of beats for which the emitter's period
// was not that of the library's configuration for the measured network. "kills": emitters are
// killed or stopped at a random moment. The figure is the time until they are declared dead.
// "mistakes": no emitter dies. The figures are the number of suspicions and their duration.
//
// All processes share a machine. Each measures its own delay, so that a reader can distinguish
// effects of the detector from those of the machine.
package main

import (
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/goulfm/goulfm/internal/net/faultproxy"
)

// plan has the values of the flags.
type plan struct {
	emitters int
	beats    int
	known    int // beats after which the network is known to the detector
	rounds   int
	span     time.Duration
	seed     uint64
	weather  faultproxy.Weather
}

// A row is one line of the table: a result, beside the requested or expected value.
type row struct{ part, of, what, found, asked string }

// parts are the parts of the measurement, in order.
var parts = []struct {
	name string
	run  func(plan) ([]row, error)
}{{"follow", follow}, {"kills", kills}, {"mistakes", mistakes}}

func main() {
	if isChild() {
		serveChild()
		return
	}
	p := plan{known: 150} // above 100
	flag.IntVar(&p.emitters, "emitters", 8, "emitters at a time; half of them for follow")
	flag.IntVar(&p.beats, "beats", 500, "follow: beats after each change of the network")
	flag.IntVar(&p.rounds, "rounds", 200, "kills: emitters that are killed (every other one) or stopped")
	flag.DurationVar(&p.span, "for", 3*time.Minute, "mistakes: how long")
	flag.Uint64Var(&p.seed, "seed", 1, "of what is drawn")
	flag.Float64Var(&p.weather.Loss, "loss", 0.01, "kills, mistakes: probability that a datagram is lost")
	flag.DurationVar(&p.weather.Delay, "delay", 5*time.Millisecond, "kills, mistakes: of each datagram")
	flag.DurationVar(&p.weather.Jitter, "jitter", 20*time.Millisecond, "kills, mistakes: more, drawn evenly from 0 to that")
	flag.DurationVar(&p.weather.Outage, "outage", 300*time.Millisecond, "kills, mistakes: how long all is lost now and then")
	flag.DurationVar(&p.weather.OutageEach, "outage-each", 20*time.Second, "kills, mistakes: mean time between two outages of one way")
	only := flag.String("only", "follow,kills,mistakes", "which parts")
	asCSV := flag.Bool("csv", false, "print CSV")
	flag.Parse()
	if p.emitters < 2 || p.beats < 2*goal || p.rounds < 2 || p.span <= 0 || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "detect: want 2 emitters, %d beats and 2 rounds at least\n", 2*goal)
		os.Exit(2)
	}
	rows, err := runParts(p, strings.Split(*only, ","))
	printRows(os.Stdout, rows, *asCSV)
	if err != nil {
		fmt.Fprintln(os.Stderr, "detect:", err)
		os.Exit(1)
	}
}

func runParts(p plan, names []string) (rows []row, err error) {
	run := 0
	for _, part := range parts {
		for _, name := range names {
			if name != part.name {
				continue
			}
			run++
			more, err := part.run(p)
			rows = append(rows, more...)
			if err != nil {
				return rows, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if run != len(names) {
		return rows, fmt.Errorf("-only %s: there are follow, kills and mistakes", strings.Join(names, ","))
	}
	return rows, nil
}

func printRows(to io.Writer, rows []row, asCSV bool) {
	rows = append([]row{{"part", "of", "what", "found", "asked or expected"}}, rows...)
	if asCSV {
		w := csv.NewWriter(to)
		for _, r := range rows {
			_ = w.Write([]string{r.part, r.of, r.what, r.found, r.asked})
		}
		w.Flush()
		return
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.TrimRight(strings.Join([]string{r.part, r.of, r.what, r.found, r.asked}, "\t"), "\t"))
	}
	_ = w.Flush()
}

// ms prints a time in milliseconds.
func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }
