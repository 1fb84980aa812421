package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// A bench holds the means to take figures.
type bench struct {
	options
	place *trial.Place
	dir   string
	built map[string]string // programs of examples, by name
}

func open(o options) (*bench, error) {
	dir, err := os.MkdirTemp("", "goulfm-recovery-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, dir: dir, built: map[string]string{}}
	if b.place, err = trial.Open("recovery", o.goulfm, o.timeout); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return b, nil
}

func (b *bench) close() {
	b.place.Close()
	os.RemoveAll(b.dir)
}

// say reports progress on stderr.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "recovery: "+format+"\n", args...) }

// roundsOr is the number of rounds of a measurement.
func (b *bench) roundsOr(full, quick int) int {
	switch {
	case b.rounds > 0:
		return b.rounds
	case b.quick:
		return quick
	}
	return full
}

// sizes are the numbers of ranks of a measurement.
func (b *bench) sizes(full, quick []int) []int {
	if b.quick {
		return quick
	}
	return full
}

// job runs a job of n ranks of this program, or of an example, which has to end well, and returns
// its output.
func (b *bench) job(n int, launch string, self string, args ...string) (trial.Result, error) {
	place := *b.place
	if self != "" {
		place.Self = self
	}
	r := place.Run(n, strings.Fields(launch), args)
	if bad := r.Judge(); bad != "" {
		return r, fmt.Errorf("a job is wrong: %s\n%s", bad, r.Transcript())
	}
	return r, nil
}

// records runs a job of ranks of this program, and returns their measurements by name.
func (b *bench) records(n int, launch string, args ...string) (map[string][]float64, trial.Result, error) {
	r, err := b.job(n, launch, "", args...)
	if err != nil {
		return nil, r, err
	}
	rs, err := record.Parse(strings.NewReader(r.Stdout))
	all := map[string][]float64{}
	for _, rec := range rs {
		all[rec.Bench] = append(all[rec.Bench], rec.Batches...)
	}
	return all, r, err
}

// example builds a program of examples, once.
func (b *bench) example(name string) (file string, err error) {
	if b.built[name] == "" {
		b.built[name], err = b.place.Build("examples/" + name)
	}
	return b.built[name], err
}

// A killed is the report of a job with ranks that were killed one after the other.
type killed struct {
	took           []float64 // from each death until all ranks are back, in ms
	phases         phases
	restore, fresh []float64 // of replacements, in ms
	cold           int       // replacements that have not waited as spares
}

// kills runs such a job.
func (b *bench) kills(n int, launch string, deaths, bytes int) (killed, error) {
	file := filepath.Join(b.dir, "board")
	if err := makeBoard(file, deaths); err != nil {
		return killed{}, err
	}
	all, r, err := b.records(n, launch, "-rank", "kills", "-times", strconv.Itoa(deaths), "-bytes", strconv.Itoa(bytes), "-board", file)
	if err != nil {
		return killed{}, err
	}
	k := killed{restore: all["restore"], fresh: all["fresh"], cold: strings.Count(r.Stdout, cameCold), phases: phasesOf(r.Stderr)}
	if k.took, err = readBoard(file); err != nil {
		return k, fmt.Errorf("%w\n%s", err, r.Transcript())
	}
	return k, nil
}

// phases are the phases of repairs that package recovery reports, in ms; each has a value for each
// repair.
type phases struct{ seen, agree, shrink, replace []float64 }

var narrated = regexp.MustCompile(`; ([\d.]+) ms after the failure was seen \(agree ([\d.]+) ms, shrink ([\d.]+) ms, replace ([\d.]+) ms\)`)

// phasesOf reads the phases from the standard error of a job. seen is the whole repair, from the
// moment at which a rank knew of the failure.
func phasesOf(stderr string) (p phases) {
	for _, m := range narrated.FindAllStringSubmatch(stderr, -1) {
		for i, to := range []*[]float64{&p.seen, &p.agree, &p.shrink, &p.replace} {
			v, _ := strconv.ParseFloat(m[i+1], 64) // the pattern has digits
			*to = append(*to, v)
		}
	}
	return p
}
