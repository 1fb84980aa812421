package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"

	"github.com/goulfm/goulfm/internal/testing/harness/kron"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// kills is the number of searches of a job that lose a rank.
const kills = 2

// drive runs jobs until the given number of searches have lost a rank. Variant, victims and moments
// are drawn from the seed: at the beginning of a level, or at some instant.
func drive(o options, out io.Writer) (int, error) {
	p, err := trial.Open("graph500", o.Goulfm, o.Timeout)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	o.Jobs = (o.searches + kills - 1) / kills
	fmt.Fprintf(out, "graph500: %d searches of scale %d that lose one of %d ranks, seed %d\n", o.searches, o.scale, o.ranks, o.Seed)
	killed := map[string]int{}
	t := o.Loop(p, out, func(number int) trial.Job { return o.draw(number, killed) })
	t.Print(out)
	for _, name := range slices.Sorted(maps.Keys(killed)) {
		fmt.Fprintf(out, "ranks killed in %s: %d\n", name, killed[name])
	}
	return t.Code(), nil
}

// draw makes a job of kills+1 searches. In each search but one a rank is killed.
func (o *options) draw(number int, killed map[string]int) trial.Job {
	r := rand.New(rand.NewPCG(o.SeedOf(number), 1))
	names := append(slices.Sorted(maps.Keys(variants)), "shortest")
	name := names[number%len(names)]
	args := []string{"-rank", "-scale", strconv.Itoa(o.scale), "-roots", strconv.Itoa(kills + 1)}
	if name == "shortest" {
		args = append(args, "-kernel", "3")
	} else {
		args = append(args, "-variant", name)
	}
	j := trial.Job{N: o.ranks, Args: args, Again: fmt.Sprintf("-searches %d -n %d -scale %d", kills, o.ranks, o.scale)}
	for search, victim := range r.Perm(o.ranks)[:kills] {
		moment := fmt.Sprintf("step=%d", stepOf(search, r.IntN(4)))
		if r.IntN(3) == 0 {
			moment = fmt.Sprintf("%dus", 20_000+r.IntN(60_000))
		}
		j.Launch = append(j.Launch, trial.Kill(victim, moment)...)
	}
	j.Check = func(res *trial.Result) string {
		killed[name] += len(res.Deaths())
		return o.wrong(res, kills+1, name == "shortest")
	}
	return j
}

var (
	validated = regexp.MustCompile(`(?m)^validated: (\d+) searches; (\d+) ranks`)
	levels    = regexp.MustCompile(`(?m)^vertices [a-z ]+, root (\d+): (\[[\d ]+\])$`)
)

// wrong returns the error in the output of a job, or "".
func (o *options) wrong(res *trial.Result, searches int, shortest bool) string {
	m, l := validated.FindStringSubmatch(res.Stdout), levels.FindStringSubmatch(res.Stdout)
	switch {
	case m == nil || l == nil:
		return "it says nothing of a validation"
	case m[1] != strconv.Itoa(searches):
		return fmt.Sprintf("it has validated %s searches, want %d", m[1], searches)
	}
	v, ok := kron.VectorOf(o.scale)
	if !ok {
		return ""
	}
	want := fmt.Sprint(v.Levels0)
	if shortest {
		want = fmt.Sprint([]int{v.Reached0})
	}
	if l[1] != strconv.FormatUint(v.Roots[0], 10) || l[2] != want {
		return fmt.Sprintf("vertices %s from root %s, want %s", l[2], l[1], want)
	}
	return ""
}
