package twolevel

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// A cluster is the members of a group, the memory and the list of each node, and a queue for
// each ordered pair of members. Nothing moves by itself: a script, a random driver or an
// exhaustive search chooses the steps.
//
// The cluster keeps the promises of a host: deaths are exact, except on a node that is cut off,
// which no longer counts; a list is read in its order, and to its end before a frame is read; a
// death is in the list of its own node first; frames of known dead members are dropped.
type cluster struct {
	cfg      Config
	of       []int // node by rank
	rams     []*ram
	members  []*Series
	queues   []queue       // of from -> to at from*n+to
	dead     rankset.Set   // stopped members, including those that left before
	left     rankset.Set   // of these, the members that left
	absent   rankset.Set   // of the left, the members that never took part: no list has them
	noticed  []rankset.Set // by member: the absent members known there
	overtake bool          // a frame may be received before the list is read
	cutoff   rankset.Set   // members that still run, on a node that others may declare
	lists    [][]int       // by node: its entries, in order
	read     []int         // by member: the number of entries read of its node's list
	known    []rankset.Set
	history  [][]contribution // by member, by seq-1
	results  [][]era.Value    // by member, by seq-1
	parts    [][]rankset.Set  // by node, by seq-1: the members with a line in its contribution
	sent     int
	events   []string // effects of the last command, for scripts
	verbose  bool
	onAction func(r int, a era.Action) // may be nil
}

// contribution is the proposal of a member, and its knowledge at that moment.
type contribution struct {
	value era.Value
	dead  rankset.Set
}

// A queue holds the messages from one member to another, oldest first.
type queue []era.Send

// newCluster makes the cluster of nodes with these ranks.
func newCluster(nodes [][]int, parent func(int) int) *cluster {
	n := 0
	for _, ranks := range nodes {
		n += len(ranks)
	}
	c := &cluster{
		cfg: Config{N: n, Nodes: nodes, Tag: tag, Parent: parent}, of: make([]int, n),
		queues: make([]queue, n*n), lists: make([][]int, len(nodes)), read: make([]int, n), known: make([]rankset.Set, n), noticed: make([]rankset.Set, n),
		history: make([][]contribution, n), results: make([][]era.Value, n), parts: make([][]rankset.Set, len(nodes)),
		members: make([]*Series, n),
	}
	for node, ranks := range nodes {
		c.rams = append(c.rams, &ram{})
		for _, r := range ranks {
			c.of[r] = node
		}
	}
	for me := range n {
		cfg := c.cfg
		cfg.Me, cfg.Memory = me, c.view(me, -1)
		c.members[me] = NewSeries(cfg)
	}
	return c
}

// consecutive returns nodes of these sizes.
func consecutive(sizes ...int) (nodes [][]int) {
	n := 0
	for _, size := range sizes {
		nodes = append(nodes, rankset.Range(n, n+size).Slice())
		n += size
	}
	return nodes
}

func (c *cluster) n() int { return c.cfg.N }

func (c *cluster) queue(from, to int) *queue { return &c.queues[from*c.n()+to] }

func (c *cluster) view(r, writes int) *view {
	ranks := c.cfg.Nodes[c.of[r]]
	v := &view{ram: c.rams[c.of[r]], me: slices.Index(ranks, r), members: len(ranks), writes: writes}
	if c.verbose {
		v.log = func(format string, args ...any) { c.log("%d writes the %s", r, fmt.Sprintf(format, args...)) }
	}
	return v
}

func (c *cluster) log(format string, args ...any) {
	if c.verbose {
		c.events = append(c.events, fmt.Sprintf(format, args...))
	}
}

// step gives one event to a living member and carries its actions out.
func (c *cluster) step(r int, ev Event) error {
	var errs error
	for _, a := range slices.Clone(c.members[r].Step(ev)) {
		if c.onAction != nil {
			c.onAction(r, a)
		}
		errs = errors.Join(errs, c.act(r, a))
	}
	return errs
}

// cut calls do, which applies events to r; r dies after a number of writes to memory. The result
// reports whether r died.
func (c *cluster) cut(r, writes int, do func() error) (died bool, err error) {
	v := c.members[r].memory.(*view)
	v.writes = writes
	defer func() {
		v.writes = -1
		if p := recover(); p != nil {
			if _, ok := p.(stopped); !ok {
				panic(p)
			}
			c.die(r)
			died = true
		}
	}()
	return false, do()
}

func (c *cluster) act(r int, a era.Action) error {
	switch a := a.(type) {
	case era.Send:
		return c.send(r, a)
	case era.Probe:
		c.log("%d probes %d", r, a.Rank)
	case era.Anomaly:
		c.log("%d finds %d at fault: %s", r, a.From, a.Text)
		if c.cutoff.Has(r) {
			return nil // the entries of its node are read one by one: for a moment the member acts as leader
		}
		return fmt.Errorf("anomaly at %d from %d: %s", r, a.From, a.Text)
	case era.Decide:
		c.log("%d decides #%d [%v]%s", r, a.Seq, a.Value, failedMark(a.Value))
		return c.decided(r, a)
	}
	return nil
}

func failedMark(v era.Value) string {
	if v.Failed() {
		return " FAILED"
	}
	return ""
}

func (c *cluster) send(r int, a era.Send) error {
	m, err := era.DecodeMessage(a.Msg, c.n())
	if err != nil {
		return fmt.Errorf("%d sends what it cannot read: %w", r, err)
	}
	c.log("%d->%d #%d %v", r, a.To, a.Seq, m)
	c.sent++
	if c.of[r] == c.of[a.To] {
		return fmt.Errorf("%d sends to %d, on its own node", r, a.To)
	}
	if !c.dead.Has(a.To) {
		*c.queue(r, a.To) = append(*c.queue(r, a.To), a)
	}
	if up, ok := m.(era.Up); ok {
		return c.checkPart(r, a.Seq, up.Value)
	}
	return nil
}

// checkPart is A28: all leaders of a node contribute the same lines.
func (c *cluster) checkPart(r int, seq uint64, v era.Value) error {
	node := c.of[r]
	part := rankset.Of(c.cfg.Nodes[node]...)
	part.Intersect(v.From)
	for uint64(len(c.parts[node])) < seq {
		c.parts[node] = append(slices.Clip(c.parts[node]), rankset.Set{})
	}
	if before := c.parts[node][seq-1]; !before.IsEmpty() && !before.Equal(part) {
		return fmt.Errorf("A28: node %d contributed lines of %v to #%d, now %d contributes those of %v", node, before, seq, r, part)
	}
	c.parts[node] = slices.Clone(c.parts[node])
	c.parts[node][seq-1] = part
	return nil
}

// decided checks a decision against everything known at that moment, keeps it and announces
// the deaths in it.
func (c *cluster) decided(r int, d era.Decide) error {
	if d.Seq != uint64(len(c.results[r]))+1 {
		return fmt.Errorf("integrity: %d decides #%d behind %d", r, d.Seq, len(c.results[r]))
	}
	if c.cutoff.Has(r) {
		c.results[r] = append(slices.Clip(c.results[r]), d.Value)
		return nil // the member is frozen before it returns anything (F13)
	}
	err := errors.Join(c.checkAgreement(r, d), c.checkParticipation(r, d), c.checkDead(d), c.checkValue(d))
	c.results[r] = append(slices.Clip(c.results[r]), d.Value)
	for x := range d.Value.Dead.All() {
		err = errors.Join(err, c.elsewhere(r, x))
	}
	return err
}

// elsewhere reports to r that x is dead, as known from another agreement.
func (c *cluster) elsewhere(r, x int) error {
	if x == r || c.known[r].Has(x) {
		return nil
	}
	c.known[r] = with(c.known[r], x)
	return c.step(r, Failed{Rank: x})
}

func with(s rankset.Set, x int) rankset.Set {
	s = s.Clone()
	s.Add(x)
	return s
}

// gone reports whether r is dead or cut off.
func (c *cluster) gone(r int) bool { return c.dead.Has(r) || c.cutoff.Has(r) }

// lives reports whether a member of a node lives.
func (c *cluster) lives(node int) bool {
	return slices.ContainsFunc(c.cfg.Nodes[node], func(r int) bool { return !c.gone(r) })
}

// checkAgreement compares with all members that have binding decisions: the living, and the dead on
// nodes that live, because a decision is in memory before any member returns it.
func (c *cluster) checkAgreement(r int, d era.Decide) error {
	for q, results := range c.results {
		if uint64(len(results)) < d.Seq || !c.lives(c.of[q]) {
			continue
		}
		if !results[d.Seq-1].Equal(d.Value) {
			return fmt.Errorf("agreement: #%d is [%v] at %d and [%v] at %d", d.Seq, results[d.Seq-1], q, d.Value, r)
		}
	}
	return nil
}

// checkParticipation: the decision has the contributions of all live members, and of no member that
// made none.
func (c *cluster) checkParticipation(r int, d era.Decide) error {
	for q := range c.n() {
		entered := uint64(len(c.history[q])) >= d.Seq
		if in := d.Value.From.Has(q); in && !entered || !in && !c.gone(q) {
			return fmt.Errorf("participation: #%d is decided at %d and of %v; %d entered: %v, lives: %v", d.Seq, r, d.Value.From, q, entered, !c.gone(q))
		}
	}
	return nil
}

// checkDead is R31, R36, R38 at this level, and that no live or left member is among the dead.
func (c *cluster) checkDead(d era.Decide) error {
	v := d.Value
	for q := range c.n() {
		if v.Dead.Has(q) && (!c.gone(q) || c.left.Has(q)) {
			return fmt.Errorf("accuracy: #%d has %d dead, which is not", d.Seq, q)
		}
		if !v.From.Has(q) {
			if !c.left.Has(q) && !v.Dead.Has(q) {
				return fmt.Errorf("R31: #%d is without %d and does not have it dead", d.Seq, q)
			}
			continue
		}
		if uint64(len(c.history[q])) < d.Seq {
			continue // checkParticipation reports it
		}
		had := c.history[q][d.Seq-1]
		if !had.dead.SubsetOf(v.Dead) {
			return fmt.Errorf("R38: %d knew of %v when it entered #%d: [%v]", q, had.dead, d.Seq, v)
		}
		if !v.Failed() && !had.value.Acked.Equal(v.Dead) {
			return fmt.Errorf("R36: #%d succeeds with dead %v, %d had acknowledged %v", d.Seq, v.Dead, q, had.value.Acked)
		}
	}
	return nil
}

// checkValue compares with the contributions put together in the plainest way.
func (c *cluster) checkValue(d era.Decide) error {
	var want era.Value
	first := true
	for q := range d.Value.From.All() {
		if uint64(len(c.history[q])) < d.Seq {
			return nil // checkParticipation reports it
		}
		v := c.history[q][d.Seq-1].value
		if first || v.Lo.Call < want.Lo.Call {
			want.Lo = v.Lo
		}
		if first || v.Hi.Call >= want.Hi.Call {
			want.Hi = v.Hi
		}
		if first {
			want.Flag, want.Acked = ^uint64(0), v.Acked.Clone()
		}
		first = false
		want.Flag &= v.Flag
		want.Acked.Intersect(v.Acked)
		want.Vetoes.Union(v.Vetoes)
		want.Entries = append(want.Entries, v.Entries...)
	}
	want.From, want.Dead, want.Returned = d.Value.From, d.Value.Dead, d.Value.Returned
	if !want.Equal(d.Value) {
		return fmt.Errorf("value: #%d is [%v], the contributions make [%v]", d.Seq, d.Value, want)
	}
	return c.checkReturned(d)
}

// checkReturned is rule 8: agreements that a decision allows to forget are decided on every node.
func (c *cluster) checkReturned(d era.Decide) error {
	for q, s := range c.members {
		for k := s.decided + 1; k < d.Value.Returned && !c.gone(q); k++ {
			if _, there := s.written(k); !there {
				return fmt.Errorf("rule 8: #%d says all below %d are decided, #%d is not on the node of %d", d.Seq, d.Value.Returned, k, q)
			}
		}
	}
	return nil
}

// propose lets r contribute v to its next agreement.
func (c *cluster) propose(r int, v era.Value) error {
	v = v.Clone()
	v.From = rankset.Of(r)
	c.history[r] = append(slices.Clip(c.history[r]), contribution{v, c.known[r].Clone()})
	return c.step(r, Propose{Value: v})
}

// deliver hands over the oldest message from -> to, after the list.
func (c *cluster) deliver(from, to int) error {
	for !c.overtake && c.read[to] < len(c.list(to)) {
		if err := c.readList(to); err != nil {
			return err
		}
	}
	q := c.queue(from, to)
	m := (*q)[0]
	*q = (*q)[1:]
	if c.known[to].Has(from) {
		return nil
	}
	return c.step(to, Receive{From: from, Seq: m.Seq, Msg: m.Msg})
}

func (c *cluster) list(r int) []int { return c.lists[c.of[r]] }

// readList reports the next entry of its node's list to r.
func (c *cluster) readList(r int) error {
	x := c.list(r)[c.read[r]]
	c.read[r]++
	if c.left.Has(x) {
		return c.step(r, Left{Rank: x})
	}
	c.known[r] = with(c.known[r], x)
	return c.step(r, Listed{Rank: x})
}

// notice reports to r that x never took part.
func (c *cluster) notice(r, x int) error {
	c.noticed[r] = with(c.noticed[r], x)
	return c.step(r, Left{Rank: x})
}

// enlist puts x into the list of a node: the list of its own node has x first (B23).
func (c *cluster) enlist(node, x int) {
	for _, at := range []int{c.of[x], node} {
		if !slices.Contains(c.lists[at], x) && (at != c.of[x] || c.dead.Has(x)) {
			c.lists[at] = append(slices.Clip(c.lists[at]), x)
		}
	}
}

// unlisted returns the members that have stopped, or are cut off, and are not in the list of a
// node.
func (c *cluster) unlisted(node int) (out []int) {
	for x := range c.n() {
		if c.gone(x) && !c.absent.Has(x) && !slices.Contains(c.lists[node], x) && (node != c.of[x] || c.dead.Has(x)) {
			out = append(out, x)
		}
	}
	return out
}

// die stops r. Messages from r stay in flight, messages to r are lost.
func (c *cluster) die(r int) {
	c.dead = with(c.dead, r)
	for q := range c.n() {
		*c.queue(q, r) = nil
	}
}

// lose takes back the last messages from -> to until keep are left: they are lost with the sender.
func (c *cluster) lose(from, to, keep int) {
	q := c.queue(from, to)
	*q = (*q)[:min(keep, len(*q))]
}

// idle reports whether a poll would do nothing at r.
func (c *cluster) idle(r int) bool {
	s := c.members[r]
	if k := s.decided + 1; k <= s.entered {
		if _, there := s.written(k); there {
			return false
		}
	}
	if k := s.upper.Next(); s.leads && k <= s.entered {
		_, there := s.written(k)
		return !there && len(s.missing(k)) > 0
	}
	return true
}

// pending reports whether a message from -> to can be delivered.
func (c *cluster) pending(from, to int) bool {
	return len(*c.queue(from, to)) > 0 && !c.dead.Has(to)
}

// drain delivers everything, oldest pair first, except over the held pairs, and makes all members
// poll.
func (c *cluster) drain(held func(from, to int) bool) error {
	for moved := true; moved; {
		moved = false
		for r := range c.n() {
			if !c.dead.Has(r) && !c.idle(r) {
				moved = true
				if err := c.step(r, Look{}); err != nil {
					return err
				}
			}
		}
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

// checkEnd checks the final conditions, when nothing is in flight, all have read of every death,
// and no poll would have an effect: all proposals are decided, and alike.
func (c *cluster) checkEnd() error {
	for r := range c.n() {
		if s := c.members[r]; !c.gone(r) && s.Open() > 0 {
			return fmt.Errorf("termination: %d waits for %v\n%s", r, s.WaitsFor(s.decided+1), s.Describe())
		}
	}
	return nil
}

// clone returns a copy of the cluster that shares nothing that changes.
func (c *cluster) clone() *cluster {
	d := *c
	d.queues = slices.Clone(c.queues) // queues lose their heads and grow by append
	for i, q := range d.queues {
		d.queues[i] = slices.Clip(q)
	}
	d.rams = slices.Clone(c.rams)
	for i, m := range d.rams {
		d.rams[i] = m.clone()
	}
	d.lists, d.read, d.known, d.noticed = slices.Clone(c.lists), slices.Clone(c.read), slices.Clone(c.known), slices.Clone(c.noticed)
	d.history, d.results, d.parts = slices.Clone(c.history), slices.Clone(c.results), slices.Clone(c.parts)
	d.members = slices.Clone(c.members)
	for r, s := range c.members {
		if !c.dead.Has(r) {
			d.members[r] = s.clone()
			d.members[r].memory = d.view(r, -1)
		}
	}
	return &d
}

func (s *Series) clone() *Series {
	d := *s
	d.upper = s.upper.Clone()
	d.stopped, d.dead = s.stopped.Clone(), s.dead.Clone()
	d.queue, d.out = slices.Clone(s.queue), nil
	return &d
}

func (s *Series) append(b []byte) []byte {
	b = append(b, byte(s.entered), byte(s.decided), byte(s.inherited), byte(len(s.queue)))
	b = wire.AppendSet(wire.AppendSet(b, s.stopped), s.dead)
	return s.upper.AppendState(b)
}

// fingerprint digests all state on which the future and the checks depend.
func (c *cluster) fingerprint() (sum [16]byte) {
	must.That(c.n() < 64, "%d members", c.n())
	b := wire.AppendSet(wire.AppendSet(wire.AppendSet(nil, c.dead), c.left), c.cutoff)
	for node, list := range c.lists {
		if !slices.ContainsFunc(c.cfg.Nodes[node], func(r int) bool { return !c.dead.Has(r) }) {
			continue
		}
		b = c.rams[node].append(b)
		for _, x := range list {
			b = append(b, byte(x))
		}
		b = append(b, 255)
		for _, p := range c.parts[node] {
			b = wire.AppendSet(b, p)
		}
		b = append(b, 255)
	}
	for r, s := range c.members {
		b = append(b, byte(len(c.history[r])), byte(len(c.results[r])))
		for _, h := range c.history[r] {
			b = wire.AppendSet(wire.AppendSet(b, h.value.Acked), h.dead)
		}
		if c.lives(c.of[r]) {
			for _, v := range c.results[r] {
				b = wire.AppendSet(wire.AppendSet(wire.AppendSet(b, v.From), v.Dead), v.Acked)
			}
		}
		if !c.dead.Has(r) {
			b = append(b, byte(c.read[r]))
			b = s.append(wire.AppendSet(wire.AppendSet(b, c.known[r]), c.noticed[r]))
		}
	}
	for _, q := range c.queues {
		b = append(b, byte(len(q)))
		for _, m := range q {
			b = wire.AppendBytes(wire.AppendUint(b, m.Seq), m.Msg)
		}
	}
	h := fnv.New128a()
	h.Write(b)
	h.Sum(sum[:0])
	return sum
}
