package engine

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/shm/nodemem"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// memory is the service of agreements and collectives in the memory of the node.
type memory struct {
	p       *Proc
	shares  bool         // agreements and collectives use memory
	node    nodemem.Node // of agreements
	made    []commMemory // of communicators that are being made
	opened  []*Comm      // those with something open in memory
	looking bool         // the step is for memory that moved
	stores  stores       // into memory of others

	oneSided oneSided // by messages, where memory is not shared
}

func (my *memory) peerDied(int) {}

func (my *memory) commEnded(*Comm) {}

func (my *memory) waitsFor(r *Request) (ranks []int, mine bool) {
	switch {
	case r.kind == collectiveRequest && r.comm.collective == r:
		return awaitedInMemory(r.comm), true
	case r.kind != callRequest:
		return nil, false
	}
	my.diagnose(func() { ranks = my.p.ctl.WaitsFor(r.comm.group.Index, uint64(r.handle())) })
	return ranks, true
}

// begin has the agreements among processes of this node made in its memory,
// where that is possible: deaths must be exact.
func (my *memory) begin(cfg *control.Config) {
	if my.p.port == nil || my.p.cfg.Messages || my.p.fences() || my.p.port.ReachAll(my.p.others.isAway) != nil {
		return
	}
	must.That(segment.AgreementsKept == 2*onenode.Slots, "memory for %d agreements", segment.AgreementsKept)
	my.shares = true
	my.node = nodemem.NewNode(my.p.me, my.p.n, my.p.port.Block)
	cfg.Blocks = segment.Blocks
	cfg.Prepare = my.node.Prepare
	cfg.SilentRevocation = true
	if my.p.others != nil {
		cfg.Together = func(g commstate.Group) bool { return my.p.others.isNear(g.Procs) }
	}
	if my.p.cfg.Era {
		return
	}
	cfg.Memory = func(index uint32, g commstate.Group) (m commstate.Memory) {
		team := g
		if !my.p.others.isNear(g.Procs) {
			if m.Nodes = nodemem.Teams(&g, my.p.cfg.Nodes); m.Nodes == nil {
				return m
			}
			team = nodemem.TeamOf(&g, m.Nodes[slices.IndexFunc(m.Nodes, func(t []int) bool { return slices.Contains(t, g.Me) })])
			m.Tag = nodemem.TeamTag(&team, my.p.cameLater)
		}
		series := my.node.Open(team)
		my.made = append(my.made, commMemory{index: index, series: series})
		if m.Repair, m.Create = &series[0], &series[1]; m.Nodes != nil {
			m.Repair, m.Create = nodemem.Team{Series: &series[0]}, nodemem.Team{Series: &series[1]}
		}
		return m
	}
}

// cameLater reports whether a process was started by others of the job.
func (p *Proc) cameLater(proc int) bool { return proc >= p.cfg.Share || p.node.Generation(proc) > 0 }

// tellTeams wakes the members that may wait for the stores of this process for agreements in two
// levels.
func (my *memory) tellTeams() {
	for _, g := range my.node.Touched {
		my.p.node.NotifyAll(g.Procs, park.Caller|park.Background)
	}
	my.node.Touched = my.node.Touched[:0]
}

// commMemory is the memory of a communicator that control has made, for openComm.
type commMemory struct {
	index  uint32
	series *[2]nodemem.Series
}

// revocation is that of a communicator at this member.
type revocation struct {
	nodemem.Revocation               // none: by messages
	broken             chan struct{} // closed once the revocation is known; nil: not requested yet
}

func (my *memory) revocationOf(c *Comm) revocation {
	if !c.shared {
		return revocation{}
	}
	words := my.p.port.Block(c.group.Procs[0], c.group.Indices[0], segment.AgreementWords)
	return revocation{Revocation: nodemem.NewRevocation(words, c.group.Indices[0])}
}

// publishRevocation notifies the other members, unless one of them has notified this one.
func (my *memory) publishRevocation(c *Comm) {
	if !c.revocation.InMemory() || c.revocation.Seen() {
		return
	}
	if pausepoint.Enabled {
		pausepoint.At("engine.revokes")
	}
	c.revocation.Store()
	my.p.node.MoveEpoch()
	my.p.notifyMembers(c)
}

// pollRevocations lets revocations take effect that others have published.
func (my *memory) pollRevocations() {
	for _, c := range slices.Clone(my.p.live) { // a step may forget some
		if !c.revoked && c.revocation.Seen() {
			my.p.rules.step(control.Revoke{Comm: c.group.Index})
		}
	}
}

// take returns the memory that control has asked for when it made the
// communicator of that index; nil: none.
func (my *memory) take(index uint32) *[2]nodemem.Series {
	for i, m := range my.made {
		if m.index == index {
			my.made = append(my.made[:i], my.made[i+1:]...)
			return m.series
		}
	}
	return nil
}

// open notes that an operation on c uses memory: progress polls it.
func (my *memory) open(c *Comm) {
	for _, o := range my.opened {
		if o == c {
			return
		}
	}
	my.opened = append(my.opened, c)
	my.p.busy.set(servesMemory, len(my.opened) > 0)
}

// progress lets changes in memory take effect, and reports whether anything happened.
func (my *memory) progress() bool {
	did := false
	for i := len(my.opened) - 1; i >= 0; i-- {
		if i >= len(my.opened) {
			continue // one step closed several
		}
		c := my.opened[i]
		if c.collective != nil {
			did = c.advanceRequest() || did
		}
		did = my.partWays(c) || did
		looking := my.p.ctl.Looking(c.group.Index)
		if looking && (c.mem[0].Moved() || c.mem[1].Moved()) {
			c.mem[0].Forget()
			c.mem[1].Forget()
			my.p.rules.step(control.Look{Comm: c.group.Index})
			looking = my.p.ctl.Looking(c.group.Index)
			did = did || !looking
			c.mem[0].Settle()
			c.mem[1].Settle()
		}
		if !looking && c.collective == nil && !c.messages {
			my.opened = append(my.opened[:i], my.opened[i+1:]...)
			my.p.busy.set(servesMemory, len(my.opened) > 0)
		}
	}
	return did
}

// attention is asked before this process sleeps; the caller does not hold mu.
func (my *memory) attention() bool {
	my.p.mu.Lock()
	defer my.p.mu.Unlock()
	for _, c := range my.opened {
		if my.p.ctl.Looking(c.group.Index) && (c.mem[0].Moved() || c.mem[1].Moved()) || c.collective != nil && c.collectiveMoved() || c.partsWays() {
			return true
		}
	}
	return false
}

// diagnose calls f, which may read memory only for a report: the words that the last poll waited
// for stay as they are.
func (my *memory) diagnose(f func()) {
	type awaited struct {
		word  *uint64
		stale uint64
	}
	var kept []awaited
	of := func(visit func(m *nodemem.Series)) {
		for _, c := range my.opened {
			if c.mem != nil {
				visit(&c.mem[0])
				visit(&c.mem[1])
			}
		}
	}
	of(func(m *nodemem.Series) { kept = append(kept, awaited{m.Awaits, m.Stale}) })
	f()
	of(func(m *nodemem.Series) {
		m.Awaits, m.Stale = kept[0].word, kept[0].stale
		kept = kept[1:]
	})
}

// notifyMembers wakes the other members if they sleep. The code reads nothing that changes: the
// caller need not hold mu.
func (p *Proc) notifyMembers(c *Comm) {
	p.node.NotifyAll(c.group.Procs, park.Caller|park.Background)
}

// agreeNow makes an agreement the fast way: one line published, the others' lines read, no event
// and no value. If that is not possible agreeNow returns the request with which the agreement
// continues, or nil if the agreement has not begun.
func (c *Comm) agreeNow(ctx context.Context, call commstate.Call, flag uint64, what string) (out commstate.Outcome, r *Request, ok bool) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.called()
	if !c.quiet() || c.plain != nil || !p.ctl.Plain(c.group.Index) || !p.leads.take(caller) {
		return out, nil, false
	}
	defer p.leads.leaveLocked()
	if pausepoint.Enabled {
		pausepoint.At("engine.agrees")
	}
	m := &c.mem[commstate.SeriesRepair]
	r = p.newCall(c, what)
	c.plain, c.plainCall, c.plainFlag = r, call, flag
	seq := p.ctl.EnterPlain(c.group.Index, call, flag)
	var number, result *uint64
	// Where ranks outnumber cores the last to come writes the result for all: each of
	// them reading all lines, with a cold cache, takes longer than everything else.
	central := p.cfg.YieldPolls > 0 && c.Size() > centralMin
	if central {
		number, result = m.Result(seq)
	}
	for last := true; c.plain == r; last = false {
		agreed, state := uint64(0), onenode.Waiting
		if !central || last {
			agreed, state = p.ctl.PollPlain(c.group.Index)
		}
		if central && state == onenode.Waiting {
			m.Awaits, m.Stale = number, segment.Load64(number)
			if m.Stale == m.Number(seq) {
				agreed, state = segment.Load64(result), onenode.Decided
				p.ctl.ConcludePlain(c.group.Index)
			}
		}
		if state == onenode.Decided {
			c.plain = nil
			p.free(r) // nobody else has learned of it
			if last && central {
				segment.Store64(result, agreed)
				segment.Store64(number, m.Number(seq))
			}
			if last {
				p.notifyMembers(c)
			}
			p.memory.node.Published = false
			return commstate.Outcome{Seq: seq, Call: call, Flag: agreed}, nil, true
		}
		if state == onenode.Mixed || !p.leads.watchWord(ctx, m.Awaits, m.Stale) {
			break
		}
	}
	if c.plain == r {
		m.Rest()
		c.adoptPlain()
	}
	// Otherwise another goroutine's agreement came behind this one and has adopted it. The word
	// that the series has waited for since then is kept: after a reset nobody would poll the lines
	// any more.
	return out, r, false
}

// centralMin is the number of members up to which each polls all lines itself.
const centralMin = 4

// adoptPlain has an agree that was entered the fast way continue like others.
func (c *Comm) adoptPlain() {
	if r := c.plain; r != nil {
		c.plain = nil
		c.p.hand(r, control.Propose{Call: c.plainCall, Flag: c.plainFlag, Entered: true})
	}
}

// watchWord leads, without mu, until a word in memory changes, anything else needs attention, or it
// has polled often enough.
func (ld *leadership) watchWord(ctx context.Context, word *uint64, stale uint64) (moved bool) {
	cancelled, epoch := ld.watch.Of(ctx), ld.p.epochSeen.Load()
	yield, pollsMax := ld.p.cfg.YieldPolls > 0, ld.spin.Polls()
	if yield {
		pollsMax = ld.p.cfg.YieldPolls
	}
	polls, moved := ld.pollKeenly(word, stale, -1)
	if moved {
		return true
	}
	for polls < pollsMax {
		ld.p.mu.Unlock()
		attention := false
		for ; polls < pollsMax; polls++ {
			if moved = atomic.LoadUint64(word) != stale; moved || ld.p.node.Epoch() != epoch {
				break
			}
			if attention = (yield || polls&15 == 15) && (ld.isAsked(polls+1, -1) || cancelled != nil && cancelled.Load()); attention {
				polls++
				break
			}
			if yield {
				ld.p.node.Yield()
			} else {
				park.Pause(1)
			}
		}
		ld.p.mu.Lock()
		if moved && !yield {
			ld.learn(polls, false)
		}
		if !attention || cancelled != nil && cancelled.Load() {
			return moved
		}
		ld.p.progress() // others' messages: they must not keep a short wait from being one
	}
	return false
}
