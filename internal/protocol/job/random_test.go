package job

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A fakeJob replaces the launcher, the daemons and the processes of a job: it turns the actions of
// the rules into later events, in random order.
type fakeJob struct {
	t     *testing.T
	rng   *rand.Rand
	rules *Rules
	log   []string

	procs   map[int]*fakeProc // by number: those that were started
	slots   map[int]int       // the number of the last process of each slot, started or not
	starts  [][]int           // by batch: processes to be started, in order
	asks    []*fakeAsk
	lost    map[int]bool // nodes
	late    bool         // the last node has come
	refills int
}

// A fakeProc is a process. Its end is reported in three events: Found and Reaped in any order, then
// Heard.
type fakeProc struct {
	number                               int
	joined, dead, left                   bool
	found, declared, reaped, heard, kept bool
	byNode                               bool
}

// A fakeAsk is a request for processes, and its end.
type fakeAsk struct {
	ev       Wanted
	asked    bool // otherwise it is made again later
	answered bool
	answer   Answer
	keeps    bool         // the members agree on that
	spoke    map[int]bool // members that have reported the result of their agreement
	passed   bool         // the new processes have their world
	shrunk   map[int]bool // members that have left the dead root out since
}

const (
	fakeRanks = 4
	fakeSlots = 12
)

// fakeNodes are the nodes of slots; the last node joins late.
var fakeNodes = []int{0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 2, 2}

func newFakeJob(t *testing.T, seed uint64) *fakeJob {
	rng := rand.New(rand.NewPCG(seed, 1))
	f := &fakeJob{t: t, rng: rng, rules: New(Config{Ranks: fakeRanks, Procs: fakeSlots, Nodes: fakeNodes, Spares: rng.IntN(2), Survive: SurviveKilled}),
		procs: map[int]*fakeProc{}, slots: map[int]int{}, lost: map[int]bool{}}
	var first []int
	for rank := range fakeRanks {
		first, f.slots[rank] = append(first, rank), rank
	}
	f.starts = [][]int{first}
	return f
}

// step passes an event to the rules, and does the actions.
func (f *fakeJob) step(ev Event) {
	f.log = append(f.log, fmt.Sprintf("%T%+v", ev, ev))
	for _, a := range slices.Clone(f.rules.Step(ev)) {
		f.log = append(f.log, fmt.Sprintf("  %T%+v", a, a))
		f.do(a, ev)
	}
}

func (f *fakeJob) require(ok bool, format string, args ...any) {
	if !ok {
		require.Fail(f.t, fmt.Sprintf(format, args...), "%v", f.log)
	}
}

func (f *fakeJob) do(a Action, ev Event) {
	switch a := a.(type) {
	case Declare:
		p := f.procs[a.Proc]
		f.require(p != nil && p.dead && p.found, "declared, and not found: %d", a.Proc)
		f.require(!p.declared, "declared twice: %d", a.Proc)
		f.require(p.left == a.Left, "%d: left %v", a.Proc, a.Left)
		p.declared = true
	case Kill:
		if p := f.procs[a.Proc]; p != nil {
			f.require(!p.kept || p.dead, "killed after it was kept: %d", a.Proc)
			p.dead = true
		}
	case Start:
		f.start(a, ev)
	case Refill:
		f.refills++
	case Answer:
		for _, ask := range f.asks {
			if ask.ev.Root == a.Root && ask.ev.Token == a.Token {
				f.require(!ask.answered, "answered twice: %+v", a)
				ask.answered, ask.answer = true, a
			}
		}
	case Postpone:
		for _, ask := range f.asks {
			if w, is := ev.(Wanted); is && ask.ev.Root == w.Root && ask.ev.Token == w.Token {
				ask.asked = false
			}
		}
	case PassKeep:
		for slot := a.First; slot < a.First+a.Count; slot++ {
			if p := f.procs[f.slots[slot]]; p != nil {
				p.kept = true
			}
		}
		for _, ask := range f.asks {
			ask.passed = ask.passed || ask.answered && ask.answer.N > 0 && SlotOf(ask.answer.First) == a.First && f.slots[a.First] == ask.answer.First
		}
	}
}

// start checks that the slots are free, and notes the processes.
func (f *fakeJob) start(a Start, ev Event) {
	var batch []int
	var barred []int
	switch ev := ev.(type) {
	case Wanted:
		barred = ev.Barred
	case SpareRoom:
		barred = ev.Barred
	}
	for slot := a.First; slot < a.First+a.Count; slot++ {
		f.require(!slices.Contains(barred, slot), "slot %d has no node", slot)
		if before, taken := f.slots[slot]; taken {
			p := f.procs[before]
			waits := slices.ContainsFunc(f.starts, func(all []int) bool { return slices.Contains(all, before) })
			f.require(!waits && (p == nil || p.heard && p.declared), "slot %d has process %d", slot, before)
		}
		now, _ := f.rules.Occupant(slot)
		f.require(f.procs[now.Number()] == nil, "number %d is used twice", now.Number())
		f.slots[slot] = now.Number()
		batch = append(batch, now.Number())
	}
	f.starts = append(f.starts, batch)
}

// run starts the next process of a batch. The start fails if the node is lost, or by chance.
func (f *fakeJob) run() {
	if len(f.starts) == 0 {
		return
	}
	i := f.rng.IntN(len(f.starts))
	number := f.starts[i][0]
	node := fakeNodes[SlotOf(number)]
	if f.starts[i] = f.starts[i][1:]; number >= fakeRanks && (f.lost[node] || f.rng.IntN(8) == 0) {
		f.starts[i] = nil // the later ones are not tried
		f.step(NotStarted{Proc: number, NodeLost: f.lost[node], Why: "chance"})
	} else {
		f.procs[number] = &fakeProc{number: number}
		f.step(Forked{Proc: number})
	}
	f.starts = slices.DeleteFunc(f.starts, func(all []int) bool { return len(all) == 0 })
}

// some returns one of the processes that satisfy is, or nil.
func (f *fakeJob) some(is func(p *fakeProc) bool) *fakeProc {
	var all []*fakeProc
	for _, p := range f.procs {
		if is(p) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b *fakeProc) int { return a.number - b.number })
	return all[f.rng.IntN(len(all))]
}

func (f *fakeJob) isMember(p *fakeProc) bool {
	return !p.dead && p.joined && (p.number < fakeRanks || p.kept)
}

// report reports one more fact about the end of a process; false: all is reported.
func (f *fakeJob) report() bool {
	p := f.some(func(p *fakeProc) bool { return p.dead && !p.heard })
	switch {
	case p == nil:
		return false
	case !p.found && (p.reaped || p.byNode || f.rng.IntN(2) == 0):
		p.found = true
		by := ByTombstone
		if p.byNode {
			by = ByNode
		}
		f.step(Found{Proc: p.number, By: by, Left: p.left, AtNs: int64(len(f.log))})
	case !p.reaped:
		p.reaped = true
		status := Status{Signal: sigkill}
		if p.left {
			status = Status{}
		}
		f.step(Reaped{p.number, status})
	default:
		p.heard = true
		f.step(Heard{p.number})
	}
	return true
}

// ask makes a member request processes, together with others.
func (f *fakeJob) ask() {
	root := f.some(f.isMember)
	if root == nil || slices.ContainsFunc(f.asks, func(a *fakeAsk) bool { return a.ev.Root == root.number && !f.isOver(a) }) {
		return
	}
	ev := Wanted{Root: root.number, Token: uint64(len(f.asks)), N: 1 + f.rng.IntN(2), Replace: f.rng.IntN(2) == 0}
	for number := range f.procs {
		if number == root.number || f.isMember(f.procs[number]) && f.rng.IntN(3) > 0 {
			ev.Parents = append(ev.Parents, number)
		}
	}
	slices.Sort(ev.Parents)
	f.asks = append(f.asks, &fakeAsk{ev: ev, keeps: f.rng.IntN(3) > 0, spoke: map[int]bool{}, shrunk: map[int]bool{}})
}

// request makes a request, for the first time or again.
func (f *fakeJob) request(last bool) bool {
	for _, a := range f.asks {
		if !a.asked && !a.answered {
			a.asked = true
			a.ev.Vacant, a.ev.Barred = f.rooms()
			a.ev.Last = last
			f.step(a.ev)
			return true
		}
	}
	return false
}

// rooms returns the slots of ended processes to which no process refers any more, and those without
// a node.
func (f *fakeJob) rooms() (vacant, barred []int) {
	for slot := range fakeSlots {
		if node := fakeNodes[slot]; f.lost[node] || node == 2 && !f.late {
			barred = append(barred, slot)
		}
		number, used := f.slots[slot]
		if p := f.procs[number]; used && p != nil && p.heard && p.declared && f.rng.IntN(3) > 0 {
			vacant = append(vacant, slot)
		}
	}
	return vacant, barred
}

// speak makes one of the members report the result of their agreement; false: all have reported.
func (f *fakeJob) speak() bool {
	for _, a := range f.asks {
		root := f.procs[a.ev.Root]
		if !a.answered && !root.declared || a.answered && a.answer.N == 0 {
			continue
		}
		for _, number := range a.ev.Parents {
			p := f.procs[number]
			if p.dead || a.spoke[number] {
				continue
			}
			knows := a.answered && (!root.dead || len(a.spoke) > 0)
			if !knows && !root.declared {
				continue // it waits for the root
			}
			a.spoke[number] = true
			switch {
			case knows && a.answer.Why == "" && a.keeps:
				f.step(Kept{First: a.answer.First, By: number})
			case number != a.ev.Root: // this member does not know the numbers
				a.keeps = a.keeps && knows
				f.step(Unwanted{Root: a.ev.Root, By: number})
			case a.answer.Why == "":
				f.step(Unwanted{First: a.answer.First, N: a.answer.N, By: number})
			}
			return true
		}
	}
	return false
}

// shrink makes one of the members leave a dead root out. The member reports again that it keeps
// nothing of that root: its first report had no effect if the root lived.
func (f *fakeJob) shrink() bool {
	for _, a := range f.asks {
		for _, number := range a.ev.Parents {
			if f.procs[a.ev.Root].declared && a.spoke[number] && !a.shrunk[number] && !f.procs[number].dead {
				a.shrunk[number] = true
				f.step(Unwanted{Root: a.ev.Root, By: number})
				return true
			}
		}
	}
	return false
}

// isOver reports whether no process waits for a request any more.
func (f *fakeJob) isOver(a *fakeAsk) bool {
	return f.procs[a.ev.Root].dead || a.answered && (a.answer.N == 0 || a.spoke[a.ev.Root])
}

// loseNode loses all processes of a node, as in a partition: they are dead without an exact report.
func (f *fakeJob) loseNode() {
	node := 1 + f.rng.IntN(2)
	if f.lost[node] || node == 2 && !f.late {
		return
	}
	f.lost[node] = true
	for _, p := range f.procs {
		if fakeNodes[SlotOf(p.number)] == node && !p.dead {
			p.dead, p.byNode = true, true
		}
	}
}

// spare answers a Refill.
func (f *fakeJob) spare() bool {
	if f.refills == 0 {
		return false
	}
	f.refills--
	vacant, barred := f.rooms()
	f.step(SpareRoom{Vacant: vacant, Barred: barred})
	return true
}

// happen makes one random event happen.
func (f *fakeJob) happen() {
	switch k := f.rng.IntN(40); {
	case k < 8:
		f.run()
	case k < 16:
		if p := f.some(func(p *fakeProc) bool { return !p.joined && !p.dead }); p != nil {
			p.joined = true
			f.step(Joined{p.number})
		}
	case k < 24:
		f.report()
	case k < 26:
		f.ask()
	case k < 30:
		f.request(false)
	case k < 35:
		f.speak()
	case k == 35:
		f.spare()
	case k == 36:
		f.shrink()
	case k == 37:
		if p := f.some(func(p *fakeProc) bool { return !p.dead }); p != nil && f.rng.IntN(2) == 0 {
			p.dead = true
		}
	case k == 38 && f.rng.IntN(8) == 0:
		f.loseNode()
	case k == 39 && !f.late && f.rng.IntN(4) == 0:
		f.late = true
		f.step(Roomier{})
	}
}

// settle completes all pending events, without further deaths.
func (f *fakeJob) settle() {
	for busy := true; busy; {
		busy = f.report() || f.spare() || f.request(true) || len(f.starts) > 0
		f.run()
		for p := f.some(func(p *fakeProc) bool { return !p.joined && !p.dead }); p != nil; p = f.some(func(p *fakeProc) bool { return !p.joined && !p.dead }) {
			p.joined, busy = true, true
			f.step(Joined{p.number})
		}
		busy = f.speak() || f.shrink() || busy
	}
}

// TestRandomJobs: deaths, lost nodes and a late node happen at any moment. A death is declared
// once, each request has one answer, and no slot has two processes. Either all processes of one
// request are kept or all are ended: none waits for ever.
func TestRandomJobs(t *testing.T) {
	for seed := range uint64(3000) {
		f := newFakeJob(t, seed)
		for range 150 {
			f.happen()
		}
		f.settle()
		for _, a := range f.asks {
			f.require(a.answered || f.procs[a.ev.Root].dead, "seed %d: no answer to %+v", seed, a.ev)
		}
		for _, p := range f.procs {
			known, current := f.rules.Process(p.number)
			if !current {
				f.require(p.heard, "seed %d: the slot of process %d is another's", seed, p.number)
				continue
			}
			f.require(p.dead || p.number < fakeRanks || p.kept || known.Spare, "seed %d: process %d waits for ever", seed, p.number)
		}
		f.require(len(f.rules.batches) == 0, "seed %d: the rules remember %d requests that are over", seed, len(f.rules.batches))
	}
}
