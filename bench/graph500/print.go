package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/kron"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// print writes the keys of the benchmark's specification, and the costs of deaths.
func (r *report) print(out io.Writer, o options, ranks int) {
	fmt.Fprintf(out, "SCALE: %d\nedgefactor: %d\nNBFS: %d\nnum_mpi_processes: %d\nconstruction_time: %.6f\n",
		o.scale, kron.EdgeFactor, len(r.searches), ranks, r.construction.Seconds())
	var times, valid, edges, rates []float64
	for _, f := range r.searches {
		times, valid = append(times, f.took.Seconds()), append(valid, f.valid.Seconds())
		edges, rates = append(edges, float64(f.edges)), append(rates, float64(f.edges)/f.took.Seconds())
	}
	printSpread(out, "time", times, "%.6f")
	printSpread(out, "validate", valid, "%.6f")
	printSpread(out, "nedge", edges, "%.6g")
	printSpread(out, "TEPS", rates, "%.6g")
	mean, deviation := harmonic(rates)
	fmt.Fprintf(out, "harmonic_mean_TEPS: %.6g\nharmonic_stddev_TEPS: %.6g\n", mean, deviation)
	what := "vertices per level"
	if o.kernel == 3 {
		what = "vertices reached"
	}
	fmt.Fprintf(out, "%s, root %d: %v\n", what, r.searches[0].root, r.searches[0].levels)
	fmt.Fprintf(out, "validated: %d searches; %d ranks of %d left, %d repairs, %v in them\n", len(r.searches), r.ranks, ranks, r.repairs, r.lost.Round(time.Microsecond))
}

// printSpread writes least, quartiles, most, mean and deviation of some figures.
func printSpread(out io.Writer, of string, figures []float64, format string) {
	sorted := slices.Sorted(slices.Values(figures))
	sum, squares := 0.0, 0.0
	for _, x := range sorted {
		sum += x
	}
	n := float64(len(sorted))
	for _, x := range sorted {
		squares += (x - sum/n) * (x - sum/n)
	}
	for _, row := range []struct {
		name  string
		value float64
	}{
		{"min", sorted[0]}, {"firstquartile", quantile(sorted, .25)}, {"median", quantile(sorted, .5)}, {"thirdquartile", quantile(sorted, .75)},
		{"max", sorted[len(sorted)-1]}, {"mean", sum / n}, {"stddev", math.Sqrt(squares / max(n-1, 1))},
	} {
		fmt.Fprintf(out, "%s_%s: "+format+"\n", row.name, of, row.value)
	}
}

// quantile interpolates between sorted figures.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	return sorted[i] + (at-float64(i))*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
}

// harmonic is the harmonic mean of rates, and its standard deviation by the specification (N.
// Norris 1940).
func harmonic(rates []float64) (mean, deviation float64) {
	n, sum, squares := float64(len(rates)), 0.0, 0.0
	for _, x := range rates {
		sum += 1 / x
	}
	for _, x := range rates {
		squares += (1/x - sum/n) * (1/x - sum/n)
	}
	mean = n / sum
	return mean, math.Sqrt(squares/max(n-1, 1)) / math.Sqrt(n) * mean * mean
}

// printRecords writes the time of each search and of each validation, for programs. After repairs
// the records are marked as wrong: such times must not be compared with others.
func (r *report) printRecords(out io.Writer, o options, ranks int) error {
	name, wrong := o.variant, ""
	if o.kernel == 3 {
		name = "shortest"
	}
	if r.repairs > 0 {
		wrong = fmt.Sprintf("%d repairs, %d of %d ranks left", r.repairs, r.ranks, ranks)
	}
	search := record.Record{Bench: name + " search", N: ranks, Unit: record.Millis, Wrong: wrong}
	validation := record.Record{Bench: name + " validation", N: ranks, Unit: record.Millis, Wrong: wrong}
	for _, f := range r.searches {
		search.Batches = append(search.Batches, millis(f.took))
		validation.Batches = append(validation.Batches, millis(f.valid))
	}
	w := record.NewWriter(out, record.JSON)
	return errors.Join(w.Write(search), w.Write(validation))
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }
