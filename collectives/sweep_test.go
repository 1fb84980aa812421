package collectives_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// A choice is a way of a verb, in the syntax of GOULFM_COLL; without a name the table chooses.
type choice struct {
	verb, name string
	segment    int  // bytes; 0: whole
	nodes      bool // ranks are on several
}

func (c choice) spec() string {
	switch {
	case c.name == "":
		return ""
	case c.segment > 0:
		return fmt.Sprintf("%s=%s:%d", c.verb, c.name, c.segment)
	}
	return c.verb + "=" + c.name
}

// specOf is a choice for several verbs.
func specOf(ways []choice) string {
	var specs []string
	for _, c := range ways {
		specs = append(specs, c.spec())
	}
	return strings.Join(specs, ",")
}

// String is the same for segments of all lengths.
func (c choice) String() string {
	text := c.verb + "/" + c.name
	if c.name == "" {
		text = c.verb + " as the table says"
	}
	if c.segment > 0 {
		text += " in segments"
	}
	if c.nodes {
		text += " on several nodes"
	}
	return text
}

// Segments that cut short and long vectors into some parts, and not into thousands.
const shortSegment, longSegment = 64, 30_000

// choices are the ways of a verb: the table's own, and each that With can choose, in segments too
// if the way supports them.
func choices(verb string) []choice {
	ways := []choice{{verb: verb}}
	for _, name := range collectives.AlgorithmsOf(verb) {
		ways = append(ways, choice{verb: verb, name: name})
		for _, a := range sched.Algorithms() {
			if a.Name == verb+"/"+name && a.Segmented {
				ways = append(ways, choice{verb: verb, name: name, segment: shortSegment}, choice{verb: verb, name: name, segment: longSegment})
			}
		}
	}
	return ways
}

// tableChoice is the way of a program that chooses nothing.
func tableChoice(verb string) []choice { return []choice{{verb: verb}} }

// nodeChoices are the ways that depend on the nodes of the ranks.
func nodeChoices(verb string) (ways []choice) {
	for _, c := range choices(verb) {
		if c.name == "" || c.name == "two-level" {
			c.nodes = true
			ways = append(ways, c)
		}
	}
	return ways
}

// A length is a number of elements per rank, and its name: for few ranks a length has several
// names.
type length struct {
	elems int
	names []string
}

// longElems is that of a vector in many pieces, and no multiple of anything.
const longElems = 100_003

// lengthsOf are those where something changes for n ranks, from shortest to longest.
func lengthsOf(n, shortest, longest int) (all []length) {
	for _, l := range []length{{0, []string{"0"}}, {1, []string{"1"}}, {2, []string{"2"}}, {n - 1, []string{"n-1"}}, {n, []string{"n"}},
		{n + 1, []string{"n+1"}}, {1000, []string{"1000"}}, {longElems, []string{"100003"}}} {
		i := slices.IndexFunc(all, func(o length) bool { return o.elems == l.elems })
		switch {
		case i >= 0:
			all[i].names = append(all[i].names, l.names...)
		case shortest <= l.elems && l.elems <= longest:
			all = append(all, l)
		}
	}
	return all
}

// A job is a subject to try verbs on.
type job struct {
	subject
	length length
	kind   string
	verbs  []string // nil: all
	// everyRoot: at each, where there is one; else at the next one.
	everyRoot bool
}

// isFor reports whether a way is tested on a job.
func (j *job) isFor(c choice) bool {
	if c.segment > 0 && (c.segment == longSegment) != (j.length.elems == longElems) {
		return false
	}
	return j.verbs == nil || slices.Contains(j.verbs, c.verb)
}

// jobsOf are one for each length of a kind, with the operations in turn.
func jobsOf(k kind, n int, lengths []length, verbs []string) (jobs []job) {
	for i, l := range lengths {
		jobs = append(jobs, job{subject: k.problem(n, l.elems, (i+n)%k.ops()), length: l, kind: k.String(), verbs: verbs})
	}
	return jobs
}

// everyRoot has jobs tried at each root.
func everyRoot(jobs []job) []job {
	for i := range jobs {
		jobs[i].everyRoot = true
	}
	return jobs
}

// ordinaryAndOrdered are two for each length: with the first operation of a kind, and
// reductions with the last, which does not commute.
func ordinaryAndOrdered(k kind, n int, lengths []length) (jobs []job) {
	for _, l := range lengths {
		jobs = append(jobs, job{subject: k.problem(n, l.elems, 0), length: l, kind: k.String()},
			job{subject: k.problem(n, l.elems, k.ops()-1), length: l, kind: k.String(), verbs: reducingVerbs})
	}
	return jobs
}

// A sweep makes the trials of many jobs in many ways, and counts them.
type sweep struct {
	t *testing.T
	// turn of a kind is the next root of its jobs that do not have all.
	turn map[string]int
	met  pairs

	calls, compared atomic.Int64
	longest         time.Duration // of the runs that commtest bounds
	started         time.Time
}

func newSweep(t *testing.T) *sweep {
	return &sweep{t: t, turn: map[string]int{}, met: pairs{}, started: time.Now()}
}

// A world is how many ranks there are, and the ways that are tried.
type world struct {
	n       int
	nodes   commtest.Nodes // nil: one
	choices func(verb string) []choice
}

// onNodes is a world of several nodes.
func onNodes(nodes commtest.Nodes) world { return world{len(nodes), nodes, nodeChoices} }

// run calls body as each of the ranks.
func (o world) run(t *testing.T, body func(ctx context.Context, w *comm.Comm)) {
	t.Helper()
	if o.nodes != nil {
		o.nodes.Run(t, body)
	} else {
		commtest.Run(t, o.n, body)
	}
}

// An attempt is a job in a way, which takes some layouts, at one root.
type attempt struct {
	*job
	choice
	root  int
	takes layouts
	only  int // trial, or everyTrial
}

// everyTrial of a job is made.
const everyTrial = -1

// layouts are the layouts of blocks that a way supports: others would use another way.
type layouts [sched.Scattered + 1]bool

func (c choice) layouts(n int, j *job) (takes layouts) {
	for l := range takes {
		takes[l] = collectives.Fits(c.spec(), n, j.blockBytes(), j.ordered(), sched.Layout(l))
	}
	return takes
}

// batchBytes bounds the bytes that the calls of one world move, each counted once, so that a run
// takes seconds.
const batchBytes = 100 << 20

// on makes the trials of all jobs: in the first way of each verb in one world or several, then in
// the second of each, and so on. The choice of twins is the same for a world.
func (s *sweep) on(o world, jobs []job) {
	s.t.Helper()
	for i := 0; ; i++ {
		var ways []choice
		for _, verb := range everyTableVerb {
			if of := o.choices(verb); i < len(of) {
				ways = append(ways, of[i])
			}
		}
		if ways == nil {
			return
		}
		var batch []attempt
		bytes := 0
		for _, a := range s.attempts(o.n, ways, jobs) {
			batch, bytes = append(batch, a), bytes+a.moved(o.n)
			if bytes > batchBytes {
				s.run(o, ways, batch)
				batch, bytes = nil, 0
			}
		}
		if batch != nil {
			s.run(o, ways, batch)
		}
	}
}

// attempts are those of all jobs in some ways, for each trial alone where that is much.
func (s *sweep) attempts(n int, ways []choice, jobs []job) (attempts []attempt) {
	for _, c := range ways {
		for i := range jobs {
			j := &jobs[i]
			takes := c.layouts(n, j)
			if !j.isFor(c) || !takes[sched.Uniform] {
				continue
			}
			for _, root := range s.roots(j, c.verb, n) {
				a := attempt{j, c, root, takes, everyTrial}
				if a.moved(n) < batchBytes {
					attempts = append(attempts, a)
					continue
				}
				for a.only = range j.trialsOf(c.verb) {
					attempts = append(attempts, a)
				}
			}
		}
	}
	return attempts
}

// roots are those of a verb that a job is tried at.
func (s *sweep) roots(j *job, verb string, n int) (roots []int) {
	switch {
	case !slices.Contains(rootedVerbs, verb):
		return []int{0}
	case !j.everyRoot:
		s.turn[j.kind]++
		return []int{s.turn[j.kind] % n}
	}
	for r := range n {
		roots = append(roots, r)
	}
	return roots
}

// moved is about how many bytes a call moves, with something for the call itself.
func (a attempt) moved(n int) int {
	blocks := n
	if slices.Contains([]string{"allgather", "alltoall", "reduce-scatter"}, a.verb) {
		blocks = n * n
	}
	return blocks * (a.blockBytes() + 1000)
}

// run makes a batch of attempts in one world.
func (s *sweep) run(o world, ways []choice, batch []attempt) {
	s.t.Helper()
	began := time.Now()
	spec := specOf(ways)
	defer collectives.Choose(spec)()
	o.run(s.t, func(ctx context.Context, w *comm.Comm) {
		made := &session{t: s.t, ctx: ctx, w: w}
		if nodes := door.Engine(w).Nodes(); door.Engine(w).Shared() != (nodes == nil) || (nodes == nil) != (o.nodes == nil) {
			s.t.Errorf("rank %d shares memory: %v, on nodes %v, want %v", w.Rank(), door.Engine(w).Shared(), nodes, o.nodes)
		}
		for _, a := range batch {
			made.about = func() string { return fmt.Sprintf("%s, %s, nodes %v, root %d", a.choice, a.job, o.nodes, a.root) }
			made.takes, made.only = a.takes, a.only
			a.try(made, a.verb, a.root)
		}
		s.compared.Add(made.compared)
		if w.Rank() == 0 {
			s.calls.Add(made.calls)
		}
	})
	s.longest = max(s.longest, time.Since(began))
	if s.t.Failed() {
		s.t.FailNow()
	}
	for _, a := range batch {
		s.met.note(o.n, a)
	}
}

// done reports the progress of a sweep.
func (s *sweep) done(what string) {
	s.t.Logf("%s: %d calls of all ranks, %d elements compared, %v; the longest run took %v",
		what, s.calls.Load(), s.compared.Load(), time.Since(s.started).Round(time.Second/10), s.longest.Round(time.Second/10))
}

// pairs are those of values of the sweep that have met in a call.
type pairs map[[2]string]bool

// The values of a sweep, in the dimensions that pairs are counted of.
func nValue(n int) string            { return fmt.Sprintf("%d ranks", n) }
func lengthValue(name string) string { return "length " + name }
func kindValue(name string) string   { return "elements " + name }
func rootValue(root int) string      { return fmt.Sprintf("root %d", root) }
func (p pairs) add(values ...string) {
	for i, a := range values {
		for _, b := range values[:i] {
			p[[2]string{b, a}] = true
		}
	}
}

// note notes a call that has been made.
func (p pairs) note(n int, a attempt) {
	for _, name := range a.length.names {
		values := []string{a.choice.String(), nValue(n), lengthValue(name), kindValue(a.kind)}
		if slices.Contains(rootedVerbs, a.verb) {
			values = append(values, rootValue(a.root))
		}
		p.add(values...)
	}
}

// missing are the pairs that should have met and have not. A way that cannot perform them has no
// pairs.
func (p pairs) missing(ns []int, kinds []kind) (missing []string, want int) {
	check := func(a, b string) {
		want++
		if !p[[2]string{a, b}] {
			missing = append(missing, a+" and "+b)
		}
	}
	var types []string
	for _, k := range kinds {
		types = append(types, kindValue(k.String()))
	}
	most := slices.Max(ns)
	for _, verb := range everyTableVerb {
		for _, c := range append(choices(verb), nodeChoices(verb)...) {
			for _, n := range ns {
				if (n > 1 || !c.nodes) && collectives.Fits(c.spec(), n, 0, false, sched.Uniform) {
					check(c.String(), nValue(n))
				}
			}
			for _, l := range namedLengths() {
				if collectives.Fits(c.spec(), 2, l.elems, false, sched.Uniform) {
					check(c.String(), lengthValue(l.names[0]))
				}
			}
			for _, v := range types {
				check(c.String(), v)
			}
			for root := 0; root < most && slices.Contains(rootedVerbs, verb); root++ {
				check(c.String(), rootValue(root))
			}
		}
	}
	values := types
	for _, l := range namedLengths() {
		values = append(values, lengthValue(l.names[0]))
		for _, v := range types {
			check(lengthValue(l.names[0]), v)
		}
	}
	for _, v := range values {
		for root := range most {
			check(v, rootValue(root))
		}
	}
	for _, n := range ns {
		for _, v := range values {
			check(nValue(n), v)
		}
		for root := range n {
			check(nValue(n), rootValue(root))
		}
	}
	return missing, want
}

// namedLengths are those of so many ranks that each has one name.
func namedLengths() []length { return lengthsOf(9, 0, longElems) }
