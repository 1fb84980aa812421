package log2phases

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A cluster is n Series and a queue per ordered pair of them. A script, a random driver or an
// exhaustive search chooses the steps.
type cluster struct {
	members []*Series
	queues  [][]era.Send  // from -> to at from*n+to, oldest first
	dead    rankset.Set   // members that have stopped
	told    []rankset.Set // by member: the deaths that it was told
	results [][]era.Value // by member, by agreement-1
	flags   [][]uint64    // by member, by agreement-1: its contribution
	sent    int
	verbose bool
	events  []string
}

func newCluster(n int) *cluster {
	c := &cluster{queues: make([][]era.Send, n*n), told: make([]rankset.Set, n), results: make([][]era.Value, n), flags: make([][]uint64, n)}
	for me := range n {
		c.members = append(c.members, NewSeries(Config{N: n, Me: me}))
	}
	return c
}

func (c *cluster) n() int { return len(c.members) }

func (c *cluster) queue(from, to int) *[]era.Send { return &c.queues[from*c.n()+to] }

func (c *cluster) log(format string, args ...any) {
	if c.verbose {
		c.events = append(c.events, fmt.Sprintf(format, args...))
	}
}

// step gives one event to a living member and executes its actions.
func (c *cluster) step(r int, ev era.Event) (errs error) {
	for _, act := range slices.Clone(c.members[r].Step(ev)) {
		switch act := act.(type) {
		case era.Send:
			m, err := decode(act.Msg, c.n())
			errs = errors.Join(errs, err)
			c.log("%d->%d #%d %v", r, act.To, act.Seq, m)
			c.sent++
			if !c.dead.Has(act.To) {
				*c.queue(r, act.To) = append(*c.queue(r, act.To), act)
			}
		case era.Decide:
			c.log("%d decides #%d [%v]", r, act.Seq, act.Value)
			errs = errors.Join(errs, c.decided(r, act))
		case era.Anomaly:
			errs = errors.Join(errs, fmt.Errorf("anomaly at %d from %d: %s", r, act.From, act.Text))
		}
	}
	return errs
}

// decided checks a decision: agreement with all living members, and validity.
func (c *cluster) decided(r int, d era.Decide) error {
	if uint64(len(c.results[r]))+1 != d.Seq {
		return fmt.Errorf("irrevocability: %d decides #%d after %d decisions", r, d.Seq, len(c.results[r]))
	}
	c.results[r] = append(c.results[r], d.Value)
	for q := range c.n() {
		if !c.dead.Has(q) && uint64(len(c.results[q])) >= d.Seq && !c.results[q][d.Seq-1].Equal(d.Value) {
			return fmt.Errorf("agreement: #%d is [%v] at %d and [%v] at %d", d.Seq, c.results[q][d.Seq-1], q, d.Value, r)
		}
	}
	flag := ^uint64(0)
	for q := range d.Value.From.All() {
		if uint64(len(c.flags[q])) < d.Seq {
			return fmt.Errorf("validity: #%d contains %d, which has not proposed", d.Seq, q)
		}
		flag &= c.flags[q][d.Seq-1]
	}
	known := d.Value.From.Clone()
	known.Union(d.Value.Dead)
	switch {
	case !d.Value.From.Has(r):
		return fmt.Errorf("validity: #%d is decided by %d and is from %v", d.Seq, r, d.Value.From)
	case d.Value.Flag != flag:
		return fmt.Errorf("validity: #%d has flag %x, want %x", d.Seq, d.Value.Flag, flag)
	case !d.Value.Dead.SubsetOf(c.dead):
		return fmt.Errorf("validity: #%d names %v as dead, dead are %v", d.Seq, d.Value.Dead, c.dead)
	case known.Len() != c.n():
		return fmt.Errorf("validity: #%d accounts for %v of %d members", d.Seq, known, c.n())
	}
	c.told[r].Union(d.Value.Dead)
	return nil
}

// propose lets r contribute flag, with all deaths that it knows acknowledged if acked.
func (c *cluster) propose(r int, flag uint64, acked bool) error {
	v := era.Value{Flag: flag, Lo: era.Claim{Rank: r}, Hi: era.Claim{Rank: r}}
	if acked {
		v.Acked = c.told[r].Clone()
	}
	c.flags[r] = append(c.flags[r], flag)
	return c.step(r, era.Propose{Value: v})
}

// notice reports the death of x to r.
func (c *cluster) notice(r, x int) error {
	if x == r || !c.told[r].Add(x) {
		return nil
	}
	return c.step(r, era.Failed{Rank: x})
}

// die stops r. The first keep[to] messages from r to each member stay in flight; keep nil: all.
func (c *cluster) die(r int, keep []int) {
	c.dead.Add(r)
	for q := range c.n() {
		*c.queue(q, r) = nil
		if keep != nil {
			*c.queue(r, q) = (*c.queue(r, q))[:keep[q]]
		}
	}
}

// pending reports whether a message from -> to can be delivered.
func (c *cluster) pending(from, to int) bool {
	return len(*c.queue(from, to)) > 0 && !c.dead.Has(to)
}

// deliver hands over the oldest message from -> to.
func (c *cluster) deliver(from, to int) error {
	q := c.queue(from, to)
	m := (*q)[0]
	*q = (*q)[1:]
	return c.step(to, era.Receive{From: from, Seq: m.Seq, Msg: m.Msg})
}

// drain delivers everything but what is held.
func (c *cluster) drain(held func(from, to int) bool) (errs error) {
	for moved := true; moved && errs == nil; {
		moved = false
		for from := range c.n() {
			for to := range c.n() {
				for errs == nil && c.pending(from, to) && !held(from, to) {
					moved = true
					errs = c.deliver(from, to)
				}
			}
		}
	}
	return errs
}

// checkEnd checks the end of a run in which all living members have proposed count agreements and
// know all deaths, and nothing is in flight: all have decided, and all survivors are in each value.
func (c *cluster) checkEnd(count int) error {
	for r, s := range c.members {
		if c.dead.Has(r) {
			continue
		}
		if s.Waiting() || len(c.results[r]) != count {
			return fmt.Errorf("termination: %s", s.Describe())
		}
		for i, v := range c.results[r] {
			for q := range c.n() {
				if !c.dead.Has(q) && !v.From.Has(q) {
					return fmt.Errorf("validity: survivor %d is not in #%d [%v]", q, i+1, v)
				}
			}
		}
	}
	return nil
}

// clone returns a copy that shares no mutable state.
func (c *cluster) clone() *cluster {
	d := *c
	d.members, d.queues = make([]*Series, c.n()), make([][]era.Send, len(c.queues))
	d.told, d.results, d.flags = slices.Clone(c.told), slices.Clone(c.results), slices.Clone(c.flags)
	d.dead = c.dead.Clone()
	for i, s := range c.members {
		d.members[i] = s.clone()
		d.told[i] = c.told[i].Clone()
		d.results[i], d.flags[i] = slices.Clone(c.results[i]), slices.Clone(c.flags[i])
	}
	for i, q := range c.queues {
		d.queues[i] = slices.Clone(q)
	}
	return &d
}

func (s *Series) clone() *Series {
	d := *s
	d.gone, d.dead, d.voters, d.askers = s.gone.Clone(), s.dead.Clone(), s.voters.Clone(), s.askers.Clone()
	d.own, d.sum, d.last = s.own.Clone(), s.sum.Clone(), s.last.Clone()
	d.early, d.out = slices.Clone(s.early), nil
	return &d
}

// fingerprint is equal for equal states.
func (c *cluster) fingerprint() string {
	text := fmt.Sprintf("%v %v %v", c.dead, c.told, c.results)
	for _, s := range c.members {
		text += fmt.Sprintf("|%d %d %v %v %d %v %v %v %d %v %v", s.seq, s.decided, s.gone, s.dead, s.attempt, s.voters, s.askers, s.sum, s.promised, s.own, s.early)
	}
	for _, q := range c.queues {
		text += fmt.Sprintf("|%v", q)
	}
	return text
}
