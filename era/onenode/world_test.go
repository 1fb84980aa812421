package onenode

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// world is n Series and the memory that they share. Nothing moves by itself: a
// script, a random driver or an exhaustive search chooses the steps.
type world struct {
	cfg      Config
	ram      *ram
	members  []*Series
	running  []*running    // by member: the Step in progress
	agreed   []rankset.Set // by member: agreed deaths not yet announced there
	dead     rankset.Set   // stopped members
	left     rankset.Set   // of these, the members that left before
	told     []rankset.Set // by member: the dead reported there
	toldLeft []rankset.Set
	history  [][]contribution // by member, by seq-1
	results  [][]era.Value    // by member, by seq-1
	events   []string         // past events, for scripts
	verbose  bool
}

// contribution is the proposal of a member, and its knowledge at that moment.
type contribution struct {
	value era.Value
	dead  rankset.Set
}

// running is a Step, or a plain call, in the middle of which a member is.
type running struct {
	name string // identifies the call: states with the same names are in the same calls
	call func(s *Series) []Action
	log  []uint64
}

func newWorld(cfg Config, longBytes, valueBytes int) *world {
	n := cfg.N
	s := NewSeries(cfg)
	w := &world{
		cfg: cfg, ram: newRAM(n, int(s.slots), longBytes, valueBytes, cfg.Tag),
		running: make([]*running, n), agreed: make([]rankset.Set, n), told: make([]rankset.Set, n), toldLeft: make([]rankset.Set, n),
		history: make([][]contribution, n), results: make([][]era.Value, n),
	}
	for me := range n {
		cfg.Me = me
		w.members = append(w.members, NewSeries(cfg))
		w.members[me].memory = w.view(me, nil)
	}
	return w
}

func (w *world) n() int { return w.cfg.N }

func (w *world) view(me int, r *run) *view {
	v := &view{ram: w.ram, me: me, run: r}
	if w.verbose {
		v.played = func(text string) { w.log("%s", text) }
	}
	return v
}

func (w *world) log(format string, args ...any) {
	if w.verbose {
		w.events = append(w.events, fmt.Sprintf(format, args...))
	}
}

// start begins a call of member r, up to and with its first access.
func (w *world) start(r int, name string, call func(s *Series) []Action) error {
	w.running[r] = &running{name: name, call: call}
	return w.advance(r, 1)
}

// advance makes member r continue its call for a number of accesses.
func (w *world) advance(r, accesses int) error {
	now := *w.running[r]
	s := w.members[r].clone()
	at := &run{log: slices.Clip(now.log), budget: accesses}
	s.memory = w.view(r, at)
	acts, done := attempt(func() []Action { return now.call(s) })
	if !done {
		now.log = at.log
		w.running[r] = &now
		return nil
	}
	s.memory = w.view(r, nil)
	w.members[r], w.running[r] = s, nil
	return w.take(r, acts)
}

func attempt(call func() []Action) (acts []Action, done bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(paused); !ok {
				panic(p)
			}
		}
	}()
	return call(), true
}

// finish makes member r complete its call.
func (w *world) finish(r int) error {
	if w.running[r] == nil {
		return nil
	}
	return w.advance(r, 1<<30)
}

// do lets member r make a whole call, and announces the agreed deaths.
func (w *world) do(r int, name string, call func(s *Series) []Action) error {
	w.running[r] = &running{name: name, call: call}
	err := w.finish(r)
	for w.agreed[r].Next(0) >= 0 && !w.dead.Has(r) {
		err = errors.Join(err, w.announce(r))
		err = errors.Join(err, w.finish(r))
	}
	return err
}

func (w *world) take(r int, acts []Action) error {
	var err error
	for _, a := range acts {
		d := a.(Decide)
		w.log("%d decides #%d [%v]%s", r, d.Seq, d.Value, failedMark(d.Value))
		err = errors.Join(err, w.decided(r, d))
	}
	return err
}

func failedMark(v era.Value) string {
	if v.Failed() {
		return " FAILED"
	}
	return ""
}

func stepping(ev Event) func(s *Series) []Action {
	return func(s *Series) []Action { return slices.Clone(s.Step(ev)) }
}

// announce starts to report an agreed death to r.
func (w *world) announce(r int) error {
	x := w.agreed[r].Next(0)
	w.agreed[r] = w.agreed[r].Clone()
	w.agreed[r].Remove(x)
	return w.failed(r, x)
}

// failed starts to report x's death to r.
func (w *world) failed(r, x int) error {
	if x == r || w.told[r].Has(x) {
		return nil
	}
	w.told[r] = with(w.told[r], x)
	return w.start(r, fmt.Sprintf("failed %d", x), stepping(Failed{Rank: x}))
}

func with(s rankset.Set, x int) rankset.Set {
	s = s.Clone()
	s.Add(x)
	return s
}

// propose records r's contribution.
func (w *world) propose(r int, v era.Value) {
	v.From = rankset.Of(r)
	w.history[r] = append(slices.Clip(w.history[r]), contribution{v, w.told[r].Clone()})
}

// plainCall is the call of plain contributions.
const plainCall = 7

// poll is PollPlain as a call: a decision is an action, as of Step.
func poll(s *Series) ([]Action, PlainState) {
	flag, state := s.PollPlain()
	if state != Decided {
		return nil, state
	}
	lo, hi := era.Claim{Call: s.plain.call}, era.Claim{Call: s.plain.call, Rank: s.n - 1}
	return []Action{Decide{Seq: s.decided, Value: era.Value{From: rankset.Range(0, s.n), Lo: lo, Hi: hi, Flag: flag}}}, state
}

// adopt is Adopt and its consequences.
func adopt(s *Series) []Action {
	s.Adopt()
	return slices.Clone(s.Step(Look{}))
}

// stop ends r at once, in the middle of a call.
func (w *world) stop(r int) {
	w.dead = with(w.dead, r)
	w.running[r] = nil
	w.agreed[r] = rankset.Set{}
}

// decided checks a decision against everything known at that moment.
func (w *world) decided(r int, d Decide) error {
	if d.Seq != uint64(len(w.results[r]))+1 {
		return fmt.Errorf("irrevocability: %d decides agreement %d behind %d", r, d.Seq, len(w.results[r]))
	}
	w.results[r] = append(slices.Clip(w.results[r]), d.Value)
	w.agreed[r] = w.agreed[r].Clone()
	for x := range d.Value.Dead.All() {
		if x != r && !w.told[r].Has(x) {
			w.agreed[r].Add(x)
		}
	}
	return errors.Join(w.checkAgreement(r, d), w.checkParticipation(d), w.checkValue(d), w.checkDead(d))
}

// checkAgreement: nobody differs, the dead included.
func (w *world) checkAgreement(r int, d Decide) error {
	for q, results := range w.results {
		if uint64(len(results)) >= d.Seq && !results[d.Seq-1].Equal(d.Value) {
			return fmt.Errorf("agreement: %d decides #%d as [%v], %d as [%v]", r, d.Seq, d.Value, q, results[d.Seq-1])
		}
	}
	return nil
}

// checkParticipation: the decision has the contributions of all live members, and of no member that
// made none.
func (w *world) checkParticipation(d Decide) error {
	for q := range w.n() {
		entered := uint64(len(w.history[q])) >= d.Seq
		if in := d.Value.From.Has(q); in && !entered || !in && !w.dead.Has(q) {
			return fmt.Errorf("participation: #%d is of %v; %d entered: %v, lives: %v", d.Seq, d.Value.From, q, entered, !w.dead.Has(q))
		}
	}
	return nil
}

// checkValue compares with the contributions put together in the plainest way.
func (w *world) checkValue(d Decide) error {
	var want era.Value
	first := true
	for q := range d.Value.From.All() {
		if uint64(len(w.history[q])) < d.Seq {
			return nil // checkParticipation reports it
		}
		v := w.history[q][d.Seq-1].value
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
	want.From, want.Dead = d.Value.From, d.Value.Dead
	if !want.Equal(d.Value) {
		return fmt.Errorf("value: #%d is [%v], the contributions make [%v]", d.Seq, d.Value, want)
	}
	return nil
}

// checkDead is R28, R31, R36, R38 at this level.
func (w *world) checkDead(d Decide) error {
	v := d.Value
	for x := range v.Dead.All() {
		if !w.dead.Has(x) {
			return fmt.Errorf("accuracy: #%d has %d dead, which lives", d.Seq, x)
		}
	}
	for q := range w.n() {
		if !v.From.Has(q) && !w.left.Has(q) && !v.Dead.Has(q) {
			return fmt.Errorf("R31: #%d is without %d and does not have it dead", d.Seq, q)
		}
		if !v.From.Has(q) {
			continue
		}
		c := w.history[q][d.Seq-1]
		if !c.dead.SubsetOf(v.Dead) {
			return fmt.Errorf("R38: %d knew of %v when it entered #%d: [%v]", q, c.dead, d.Seq, v)
		}
		if !v.Failed() && !c.value.Acked.Equal(v.Dead) {
			return fmt.Errorf("R36: #%d succeeds with dead %v, %d had acknowledged %v", d.Seq, v.Dead, q, c.value.Acked)
		}
	}
	return nil
}

// settle makes all live members poll, until that changes nothing any more.
func (w *world) settle() error {
	for before := -1; before != w.decisions(); {
		before = w.decisions()
		for r := range w.n() {
			if w.dead.Has(r) {
				continue
			}
			if err := w.look(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) decisions() (sum int) {
	for _, results := range w.results {
		sum += len(results)
	}
	return sum
}

// look makes r poll, in the same way as the engine.
func (w *world) look(r int) error {
	if !w.members[r].plain.open {
		return w.do(r, "look", stepping(Look{}))
	}
	mixed := false
	err := w.do(r, "poll", func(s *Series) []Action {
		acts, state := poll(s)
		mixed = state == Mixed
		return acts
	})
	if err == nil && mixed {
		err = w.do(r, "adopt", adopt)
	}
	return err
}

// checkEnd is termination, when only polls are left: all live members have decided their proposals.
func (w *world) checkEnd() error {
	if err := w.settle(); err != nil {
		return err
	}
	for r, s := range w.members {
		if !w.dead.Has(r) && s.Open() > 0 {
			return fmt.Errorf("termination: %d waits for %v\n%s", r, s.WaitsFor(s.decided+1), s.Describe())
		}
	}
	return nil
}

// clone returns a copy of the world that shares nothing that changes.
func (w *world) clone() *world {
	c := *w
	c.ram = w.ram.clone()
	c.running = slices.Clone(w.running) // replaced, never written
	c.agreed, c.told, c.toldLeft = slices.Clone(w.agreed), slices.Clone(w.told), slices.Clone(w.toldLeft)
	c.history, c.results = slices.Clone(w.history), slices.Clone(w.results)
	c.members = make([]*Series, len(w.members))
	for r, s := range w.members {
		c.members[r] = s.clone()
		c.members[r].memory = c.view(r, nil)
	}
	return &c
}

func (s *Series) clone() *Series {
	c := *s
	c.closed, c.dead, c.seen = s.closed.Clone(), s.dead.Clone(), s.seen.Clone()
	c.queue, c.out = slices.Clone(s.queue), nil
	c.value = s.value.Clone()
	return &c
}
