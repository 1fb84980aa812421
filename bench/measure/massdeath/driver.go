package massdeath

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// drive runs the jobs and returns the exit code.
func drive(o options, out io.Writer) (int, error) {
	p, err := trial.Open("measure", o.Goulfm, o.Timeout)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	fmt.Fprintf(out, "massdeath: %d jobs of %d ranks, seed %d\n", o.Jobs, o.n, o.Seed)
	by := map[string]*times{}
	t := o.Loop(p, out, func(number int) trial.Job {
		j := o.job(number)
		if by[j.kind] == nil {
			by[j.kind] = new(times)
		}
		return j.trial(number, by[j.kind])
	})
	for _, kind := range cases {
		if s := by[kind]; s != nil {
			s.print(out, kind)
		}
	}
	t.Print(out)
	return t.Code(), nil
}

// times are the times of the jobs of one case.
type times struct {
	jobs, deaths, repairs int
	all                   []time.Duration
}

func (s *times) print(out io.Writer, kind string) {
	fmt.Fprintf(out, "%-9s jobs %d, deaths %d, repairs %d; last death to last communicator: %s\n", kind, s.jobs, s.deaths, s.repairs, trial.Spread(s.all))
}

// job returns the options of one job.
func (o options) job(number int) options {
	if o.kind == all {
		o.kind = cases[number%len(cases)]
	}
	o.Seed = o.SeedOf(number)
	return o
}

func (o options) trial(number int, s *times) trial.Job {
	j := trial.Job{
		N: o.n, Again: fmt.Sprintf("-jobs 1 -n %d -die %d -span %v -case %s", o.n, o.die, o.span, o.kind),
		Args: []string{"massdeath", "-rank", "-seed", strconv.FormatUint(o.Seed, 10), "-n", strconv.Itoa(o.n), "-die", strconv.Itoa(o.die),
			"-span", o.span.String(), "-case", o.kind},
		Check: func(r *trial.Result) string { return o.check(r, s) },
		Note: func(r *trial.Result) string {
			return fmt.Sprintf("%s: %v", o.kind, recovered(r).Round(10*time.Microsecond))
		},
	}
	if o.kind != inInit && o.kind != finalize {
		j.Launch = flags(draw(o), o.n)
	}
	return j
}

// An account is the reports of the ranks of a job.
type account struct {
	members   map[int]int // by rank
	repairs   int
	finalized map[int]bool
}

func read(stdout string) account {
	a := account{members: map[int]int{}, finalized: map[int]bool{}}
	for line := range strings.Lines(stdout) {
		var rank, members, repairs int
		if n, _ := fmt.Sscanf(line, "massdeath: rank %d ends with %d members after %d repairs", &rank, &members, &repairs); n == 3 {
			a.members[rank], a.repairs = members, repairs
		} else if strings.HasSuffix(line, " finalized\n") {
			fmt.Sscanf(line, "massdeath: rank %d", &rank)
			a.finalized[rank] = true
		}
	}
	return a
}

// check returns the error of a job that ended well, or "": the living are exactly the ranks that
// have not died, and each has come to the end.
func (o options) check(r *trial.Result, s *times) string {
	a, dead := read(r.Stdout), map[int]bool{}
	for _, d := range r.Deaths() {
		dead[d.Rank] = true
	}
	planned, want := draw(o), o.n-len(dead)
	if o.kind == finalize {
		want = o.n // they die after that
	} else if o.kind != inInit && len(dead) != len(planned) {
		return fmt.Sprintf("%d are dead, want %d", len(dead), len(planned))
	}
	for rank := range o.n {
		_, doomed := planned[rank]
		doomed = doomed && o.kind != inInit
		switch {
		case dead[rank] && !doomed && o.kind != inInit:
			return fmt.Sprintf("rank %d is dead, which is not the plan", rank)
		case (!dead[rank] || o.kind == finalize) && a.members[rank] != want:
			return fmt.Sprintf("rank %d ended with %d members, want %d", rank, a.members[rank], want)
		case !dead[rank] && !doomed && !a.finalized[rank]:
			return fmt.Sprintf("rank %d did not come out of Finalize", rank)
		}
	}
	s.jobs, s.deaths, s.repairs = s.jobs+1, s.deaths+len(dead), s.repairs+a.repairs
	if o.kind != finalize {
		s.all = append(s.all, recovered(r))
	}
	return ""
}

// recovered is the time from the last death until the last survivor had the last
// communicator, by the launcher's report; 0 if there was no repair.
func recovered(r *trial.Result) time.Duration {
	var died, repaired float64
	for _, d := range r.Deaths() {
		died = max(died, d.At-d.LatencyMs/1e3)
	}
	for _, s := range r.Events("shrink") {
		repaired = max(repaired, s.At)
	}
	return max(0, time.Duration((repaired-died)*1e9))
}
