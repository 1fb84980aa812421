package era

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A cluster is n Series and a queue per ordered pair of them. Nothing moves by
// itself: a script, a random driver or an exhaustive search chooses the steps.
type cluster struct {
	cfg      Config
	members  []*Series
	queues   []queue     // of from -> to at from*n+to
	dead     rankset.Set // members that have stopped
	left     rankset.Set // members that have left in an orderly way: stopped, but not among the dead
	told     []rankset.Set
	history  [][]Value // contributions: by member, by seq-1
	results  [][]Value // by member, by seq-1; From is empty if undecided
	sent     int
	events   []string // effects of the last command, for scripts; nil: not kept
	verbose  bool
	onStep   func(acts []Action) // called after every step; may be nil
	onDecide func(r int)         // called after every decision; may be nil
}

// A queue holds the messages from one member to another, oldest first.
type queue []Send

func newCluster(cfg Config) *cluster {
	c := &cluster{
		cfg:     cfg,
		queues:  make([]queue, cfg.N*cfg.N),
		told:    make([]rankset.Set, cfg.N),
		history: make([][]Value, cfg.N),
		results: make([][]Value, cfg.N),
	}
	for me := range cfg.N {
		cfg.Me = me
		c.members = append(c.members, NewSeries(cfg))
		c.told[me] = cfg.Dead.Clone()
	}
	c.dead = cfg.Dead.Clone()
	return c
}

func (c *cluster) n() int { return c.cfg.N }

func (c *cluster) queue(from, to int) *queue { return &c.queues[from*c.n()+to] }

func (c *cluster) log(format string, args ...any) {
	if c.verbose {
		c.events = append(c.events, fmt.Sprintf(format, args...))
	}
}

// step gives one event to a living member and carries its actions out.
func (c *cluster) step(r int, ev Event) error {
	var errs error
	acts := slices.Clone(c.members[r].Step(ev))
	if c.onStep != nil {
		c.onStep(acts)
	}
	for _, act := range acts {
		errs = errors.Join(errs, c.act(r, act))
	}
	return errs
}

func (c *cluster) act(r int, act Action) error {
	switch act := act.(type) {
	case Send:
		m, err := DecodeMessage(act.Msg, c.n())
		if err != nil {
			return fmt.Errorf("%d sends what it cannot read: %w", r, err)
		}
		c.log("%d->%d #%d %v", r, act.To, act.Seq, m)
		c.sent++
		if q := c.queue(r, act.To); !c.dead.Has(act.To) {
			*q = append(*q, act)
		}
	case Probe:
		c.log("%d probes %d", r, act.Rank)
	case Anomaly:
		c.log("%d finds %d at fault: %s", r, act.From, act.Text)
		return c.anomaly(r, act)
	case Decide:
		c.log("%d decides #%d [%v]%s", r, act.Seq, act.Value, failedMark(act.Value))
		return c.decided(r, act)
	}
	return nil
}

func failedMark(v Value) string {
	if v.Failed() {
		return " FAILED"
	}
	return ""
}

// anomaly is a violation: no schedule of correct members yields one.
func (c *cluster) anomaly(r int, a Anomaly) error {
	return fmt.Errorf("anomaly at %d from %d: %s", r, a.From, a.Text)
}

// decided checks a decision against everything known at that moment, keeps it and
// answers it.
func (c *cluster) decided(r int, d Decide) error {
	for uint64(len(c.results[r])) < d.Seq {
		c.results[r] = append(c.results[r], Value{})
	}
	if !c.results[r][d.Seq-1].From.IsEmpty() {
		return fmt.Errorf("irrevocability: %d decides agreement %d twice", r, d.Seq)
	}
	c.results[r][d.Seq-1] = d.Value
	if c.onDecide != nil {
		c.onDecide(r)
	}
	err := errors.Join(c.checkAgreement(r, d), c.checkValue(r, d))
	for x := range d.Value.Dead.All() {
		err = errors.Join(err, c.notice(r, x))
	}
	return err
}

// notice reports x's death to r.
func (c *cluster) notice(r, x int) error {
	if x == r || !c.told[r].Add(x) {
		return nil
	}
	return c.step(r, Failed{Rank: x})
}

// deliver hands over the oldest message from -> to.
func (c *cluster) deliver(from, to int) error {
	q := c.queue(from, to)
	m := (*q)[0]
	*q = (*q)[1:]
	return c.step(to, Receive{From: from, Seq: m.Seq, Msg: m.Msg})
}

// propose lets r contribute v to its next agreement.
func (c *cluster) propose(r int, v Value) error {
	c.history[r] = append(c.history[r], v.Clone())
	return c.step(r, Propose{Value: v})
}

// die stops r. Messages from r stay in flight, messages to r are lost.
func (c *cluster) die(r int) {
	c.dead.Add(r)
	for q := range c.n() {
		*c.queue(q, r) = nil
	}
}

// lose takes back the last messages from -> to until keep are left: the sender died
// before it sent them.
func (c *cluster) lose(from, to, keep int) {
	q := c.queue(from, to)
	*q = (*q)[:min(keep, len(*q))]
}

// checkAgreement compares with every living member that has decided: Theorem 2.
func (c *cluster) checkAgreement(r int, d Decide) error {
	for q := range c.n() {
		if c.dead.Has(q) || uint64(len(c.results[q])) < d.Seq || c.results[q][d.Seq-1].From.IsEmpty() {
			continue
		}
		if !c.results[q][d.Seq-1].Equal(d.Value) {
			return fmt.Errorf("agreement: #%d is [%v] at %d and [%v] at %d", d.Seq, c.results[q][d.Seq-1], q, d.Value, r)
		}
	}
	return nil
}

// checkValue computes the decision anew from the proposals of its contributors.
func (c *cluster) checkValue(r int, d Decide) error {
	v := d.Value
	if !v.From.Has(r) {
		return fmt.Errorf("participation: #%d decided by %d is from %v", d.Seq, r, v.From)
	}
	if !v.Dead.SubsetOf(c.dead) {
		return fmt.Errorf("validity: #%d says %v are dead, really dead are %v", d.Seq, v.Dead, c.dead)
	}
	known := v.From.Clone()
	known.Union(v.Dead)
	known.Union(c.left)
	if known.Len() != c.n() {
		return fmt.Errorf("R31: #%d accounts for %v of %d members", d.Seq, known, c.n())
	}
	for q, s := range c.members {
		if !c.dead.Has(q) && s.decided+1 < v.Returned {
			return fmt.Errorf("rule 8: #%d says all below %d are decided, %d has decided %d", d.Seq, v.Returned, q, s.decided)
		}
	}
	want, sameAcks := c.fold(d)
	if !want.Equal(v) {
		return fmt.Errorf("value: #%d is [%v], want [%v]", d.Seq, v, want)
	}
	if !v.Failed() && !sameAcks {
		return fmt.Errorf("R36: #%d succeeds and its contributors acknowledged different sets", d.Seq)
	}
	return nil
}

// fold merges the proposals of the contributors of d, without Merge: the dumb
// version. Dead and Returned, which no proposal holds, are taken from d.
func (c *cluster) fold(d Decide) (want Value, sameAcks bool) {
	sameAcks = true
	want = Value{From: d.Value.From, Dead: d.Value.Dead, Returned: d.Value.Returned, Flag: ^uint64(0)}
	first := true
	for r := range d.Value.From.All() {
		if uint64(len(c.history[r])) < d.Seq {
			return Value{}, false
		}
		p := c.history[r][d.Seq-1]
		if first {
			want.Acked, want.Lo, want.Hi, first = p.Acked.Clone(), p.Lo, p.Hi, false
		}
		sameAcks = sameAcks && p.Acked.Equal(d.Value.Dead)
		want.Acked.Intersect(p.Acked)
		want.Flag &= p.Flag
		if p.Lo.Call < want.Lo.Call {
			want.Lo = p.Lo
		}
		if p.Hi.Call >= want.Hi.Call {
			want.Hi = p.Hi
		}
		if p.Vetoes.Has(r) {
			want.Vetoes.Add(r)
		}
		want.Entries = append(want.Entries, p.Entries...)
	}
	return want, sameAcks
}

// checkEnd checks the final conditions, when nothing is in flight and all members know every death:
// termination (Theorem 3), participation (Theorem 4), agreement.
func (c *cluster) checkEnd() error {
	var reference []Value
	for r := range c.n() {
		if c.dead.Has(r) {
			continue
		}
		s := c.members[r]
		if s.Open() != 0 {
			return fmt.Errorf("termination: %d has %d open agreements\n%s", r, s.Open(), s.Describe())
		}
		if reference == nil {
			reference = c.results[r]
		}
		for i, v := range c.results[r] {
			if i < len(reference) && !v.Equal(reference[i]) {
				return fmt.Errorf("agreement: #%d differs at %d", i+1, r)
			}
			if err := c.checkSurvivors(v, i+1); err != nil {
				return err
			}
			if kept, ok := s.Decision(uint64(i + 1)); ok && !kept.Equal(v) {
				return fmt.Errorf("irrevocability: %d decided #%d as [%v] and remembers [%v]", r, i+1, v, kept)
			}
		}
	}
	return nil
}

// checkSurvivors checks participation: everybody alive at the end is in the value.
func (c *cluster) checkSurvivors(v Value, seq int) error {
	for q := range c.n() {
		if !c.dead.Has(q) && !v.From.Has(q) {
			return fmt.Errorf("participation: survivor %d is not in #%d, which is from %v", q, seq, v.From)
		}
	}
	return nil
}

// pending reports whether a message from -> to can be delivered.
func (c *cluster) pending(from, to int) bool {
	return len(*c.queue(from, to)) > 0 && !c.dead.Has(to)
}

// drain delivers everything, oldest pair first, except over the held pairs.
func (c *cluster) drain(held func(from, to int) bool) error {
	for moved := true; moved; {
		moved = false
		for from := range c.n() {
			for to := range c.n() {
				for c.pending(from, to) && !held(from, to) {
					moved = true
					if err := c.deliver(from, to); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func holdNothing(int, int) bool { return false }
