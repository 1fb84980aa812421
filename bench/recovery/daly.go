package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/ckpt/commitinterval"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// The size of the figure daly. A commit of heat costs about as much as a step: the protected data
// are all data that a step reads.
const (
	dalyRanks = 8   // each of them is killed once at most
	dalyCosts = 40  // the MTBF, in commits: then Daly's optimum loses about a fifth, and repairs come on top of that
	dalyWork  = 3   // the work of a run, in MTBFs
	leastMTBF = 0.3 // s; a repair on a busy machine takes a good part of that
)

// dalyTimes are the measured intervals, in parts of the interval that Daly advises.
var dalyTimes = []float64{0.25, 0.5, 1, 2, 4}

// A pilot holds the costs of heat without deaths, and the values that follow from the costs. All
// but the start is in steps: the length of a step differs from one moment to the next where other
// programs use the machine.
type pilot struct {
	start        float64 // s
	commit, mtbf float64
	steps        int // of the runs in which ranks die
}

// An outcome is the result of one run of heat: times in s, of the whole and of all processors.
type outcome struct {
	took, cpu      float64
	result, stderr string
}

// A tried is one choice of the commit interval, and its results.
type tried struct {
	name      string
	every     int // steps; 0: package recovery finds the interval
	took, cpu []float64
	deaths    int
	between   []float64 // steps between commits, of runs in which package recovery reported the step to which a repair returns
	repairs   []float64 // each in steps
	millis    []float64 // the same in ms
	alone     []float64 // s of the undisturbed runs
}

// daly is the figure of that name: heat loses ranks at moments that are exponentially distributed,
// and commits at several intervals. In a round all intervals, in turns, have the same deaths after
// the same parts of the MTBF. Before each run comes a run in which nobody dies or commits. This run
// gives the length of the MTBF at that moment, and is the base of the comparison.
func (b *bench) daly() (*table, error) {
	file, err := b.example("heat")
	if err != nil {
		return nil, err
	}
	p, err := b.pilot(file)
	if err != nil {
		return nil, err
	}
	advised := float64(commitinterval.Interval(units(p.commit), units(p.mtbf))) / float64(units(1))
	var all []*tried
	for _, times := range dalyTimes {
		all = append(all, &tried{name: fmt.Sprintf("%g x Daly's", times), every: max(int(times*advised+0.5), 1)})
	}
	all = append(all, &tried{name: "by package recovery"})
	for round := range b.roundsOr(6, 1) {
		moments := moments(b.seed, round)
		for turn := range all {
			t := all[(round+turn)%len(all)]
			say("daly, round %d: %s", round, t.name)
			if err := b.disturbed(t, file, p, moments); err != nil {
				return nil, err
			}
		}
	}
	return dalyTable(p, all), nil
}

// units converts steps to durations, which package pace takes.
func units(steps float64) mono.Duration { return mono.Duration(steps * float64(mono.Second)) }

// heat runs the example once.
func (b *bench) heat(file, launch string, steps, every int, more ...string) (o outcome, err error) {
	side := "1500"
	if b.quick {
		side = "128"
	}
	args := []string{"-nx", side, "-ny", side, "-tol", "0", "-print", "0", "-steps", strconv.Itoa(steps), "-every", strconv.Itoa(every)}
	r, err := b.job(dalyRanks, launch, file, append(args, more...)...)
	if err != nil {
		return o, err
	}
	lines := slices.Compact(strings.Split(strings.TrimSpace(r.Stdout), "\n"))
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "result: ") {
		return o, fmt.Errorf("heat has not one result:\n%s", r.Transcript())
	}
	return outcome{took: r.Took.Seconds(), cpu: r.CPU.Seconds(), result: lines[0], stderr: r.Stderr}, nil
}

// pilot measures the costs of a step and of a commit, and derives an MTBF from them.
func (b *bench) pilot(file string) (p pilot, err error) {
	steps, err := b.manySteps(file)
	if err != nil {
		return p, err
	}
	var start, plain, ratio []float64
	for range b.roundsOr(5, 1) {
		say("daly: the costs of a step and a commit")
		var took [3]float64
		for i, m := range [3]struct{ steps, every int }{{1, never}, {steps, never}, {steps, 1}} {
			o, err := b.heat(file, "", m.steps, m.every)
			if err != nil {
				return p, err
			}
			took[i] = o.took
		}
		work := workOf(took[1], took[0])
		start, plain, ratio = append(start, took[0]), append(plain, work/float64(steps)), append(ratio, (took[2]-took[1])/work)
	}
	p.start, p.commit = record.Median(start), max(record.Median(ratio), 0.1)
	p.mtbf = max(dalyCosts*p.commit, leastMTBF/record.Median(plain))
	p.steps = int(dalyWork * p.mtbf)
	return p, nil
}

// manySteps is a number of steps that takes several times as long as the start, which differs from
// one run to the next.
func (b *bench) manySteps(file string) (steps int, err error) {
	start, err := b.heat(file, "", 1, never)
	for steps = 100; err == nil; steps *= 2 {
		var o outcome
		if o, err = b.heat(file, "", steps, never); o.took >= 5*start.took {
			break
		}
	}
	return steps, err
}

// workOf is the part of a run after its start. The start was measured at another moment: if it
// seems to be most of the run, that moment was a slower one.
func workOf(took, start float64) float64 { return max(took-start, took/2) }

// A moment is a planned death: when, in MTBFs from the start.
type moment struct {
	rank int
	at   float64
}

// moments are the deaths of a round: of all ranks, one after the other, at exponentially
// distributed distances.
func moments(seed uint64, round int) (all []moment) {
	rng := rand.New(rand.NewPCG(seed, uint64(round)))
	at := 0.0
	for _, victim := range rng.Perm(dalyRanks) {
		at += rng.ExpFloat64()
		all = append(all, moment{victim, at})
	}
	return all
}

// backTo matches the report of package recovery about a repair: the number of commits before, and
// the step to which the repair returns.
var backTo = regexp.MustCompile(`back to version \d+\.(\d+) \(step (\d+)\)`)

// disturbed runs heat while ranks die, after a run in which none does. Overheads leave out the
// start.
func (b *bench) disturbed(t *tried, file string, p pilot, deaths []moment) error {
	plain, err := b.heat(file, "", p.steps, never)
	if err != nil {
		return err
	}
	work := workOf(plain.took, p.start)
	step := work / float64(p.steps)
	mtbf := max(p.mtbf*step, leastMTBF)
	launch := ""
	for _, d := range deaths {
		launch += fmt.Sprintf(" --kill %d@%.3fs", d.rank, d.at*mtbf)
	}
	o, err := b.heat(file, launch, p.steps, t.every, "-mtbf", fmt.Sprintf("%.3fs", mtbf))
	if err == nil && o.result != plain.result {
		err = fmt.Errorf("the result is %q, and undisturbed %q", o.result, plain.result)
	}
	if err != nil {
		return err
	}
	t.took, t.cpu = append(t.took, 100*(o.took-plain.took)/work), append(t.cpu, 100*(o.cpu/plain.cpu-1))
	t.alone = append(t.alone, plain.took)
	for _, ms := range phasesOf(o.stderr).seen {
		t.repairs, t.millis = append(t.repairs, ms/1000/step), append(t.millis, ms)
	}
	t.deaths += strings.Count(o.stderr, `"event":"death"`)
	if all := backTo.FindAllStringSubmatch(o.stderr, -1); len(all) > 0 {
		last := all[len(all)-1]
		commits, _ := strconv.ParseFloat(last[1], 64) // the pattern has digits
		at, _ := strconv.ParseFloat(last[2], 64)
		t.between = append(t.between, at/commits)
	}
	return nil
}

// dalyTable puts the measured values beside Daly's complete model (commitinterval.Slowdown), with
// the repairs of all runs.
func dalyTable(p pilot, all []*tried) *table {
	out := &table{id: "daly", title: []string{"commits", "steps between two", "by Daly's model", "measured", "of CPU time", "deaths"}}
	var repairs, millis, alone []float64
	total := 0
	for _, t := range all {
		repairs, millis, alone = append(repairs, t.repairs...), append(millis, t.millis...), append(alone, t.alone...)
		total += t.deaths
	}
	restart := record.Median(repairs)
	for _, t := range all {
		every, steps := strconv.Itoa(t.every), float64(t.every)
		if t.every == 0 {
			steps = max(record.Median(t.between), 1)
			every = fmt.Sprintf("%.3g, measured", steps)
		}
		model := 100 * (commitinterval.Slowdown(units(steps), units(p.commit), units(restart), units(p.mtbf)) - 1)
		out.keep("heat, commits "+t.name, record.Percent, t.took)
		out.keep("heat, commits "+t.name+", CPU time", record.Percent, t.cpu)
		out.add(t.name, every, short(model)+" %", spread(t.took)+" %", spread(t.cpu)+" %", strconv.Itoa(t.deaths))
	}
	out.add("in all", fmt.Sprintf("%d, in %s s undisturbed", p.steps, short(record.Median(alone))),
		fmt.Sprintf("in steps: a commit %.3g, a repair %.3g (%.0f ms), the MTBF %.3g", p.commit, restart, record.Median(millis), p.mtbf),
		"each result is that of the run before, in which nobody has died", "", strconv.Itoa(total))
	return out
}
