package engine

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/internal/member"
	"github.com/goulfm/goulfm/internal/must"
	"github.com/goulfm/goulfm/internal/park"
	"github.com/goulfm/goulfm/internal/segment"
)

// shareMemory has the agreements of this process made in the memory of the node,
// where that is possible: deaths must be exact.
func (p *Proc) shareMemory(cfg *control.Config) {
	if p.port == nil || p.cfg.Messages || p.fences() || p.port.ReachAll() != nil {
		return
	}
	must.That(segment.AgreementsKept == 2*onenode.Slots, "memory for %d agreements", segment.AgreementsKept)
	p.shares = true
	p.copied = make([]byte, 0, copiedBytes)
	cfg.Blocks = segment.Blocks
	cfg.Prepare = p.prepareBlock
	cfg.SilentRevocation = true
	if p.cfg.Era {
		return
	}
	cfg.Memory = func(index uint32, g member.Group) (repair, create onenode.Memory) {
		c := p.commMemory(index, g)
		return &c[0], &c[1]
	}
}

// The memory of agreements, all in the first member's block: decision words and the
// revocation; then a line for the result of each agreement of both series; then for each
// of them a line of each member, what the contribution of each has beside the line, and
// the value that each offers. So who combines the contributions of 64 members touches few
// pages for it, and not 64; and where members are few an agreement that reports a death,
// the only kind that has all of these, finds them in a page that others have touched.
// What is longer is in the member's own block: the contribution, then the value.
const (
	// Of a line.
	lineSeq  = 0 // tag<<32 | number, stored last
	lineCall = 8
	lineFlag = 16
	lineLong = 24
	lineEnd  = 32
	// Of a value: its tag and length, then its bytes.
	valueHead = 16

	linesAt = segment.ResultBytes

	// Of most contributions and values that are read.
	copiedBytes = 2 << 10
)

// ownBytes is what a member has for one agreement in its own block.
func ownBytes(procs int) int {
	return segment.PartBytes(segment.ContributionPart, procs) / segment.AgreementsKept &^ (segment.Line - 1)
}

// prepareBlock tags the decision words of a block before anybody hears of the context
// index, so that nobody takes what an earlier communicator left there for its own.
func (p *Proc) prepareBlock(index uint32) {
	r := p.port.Block(p.me, index, segment.AgreementWords)
	for k := range segment.AgreementsKept {
		segment.Store64(r.Word(8*k), uint64(index)<<32)
	}
}

// An agreementMemory is the memory of one series of one communicator as this member
// sees it. It implements onenode.Memory.
type agreementMemory struct {
	p     *Proc
	g     *member.Group
	part  int
	words segment.Region // of all series
	lines segment.Region // of all series
	// What an agreement has there: every line that is read asks where it stands.
	slotBytes int
	// The same as words: to ask a Region for one takes as long as to store it.
	lineWords []uint64

	// What the last look waited for: the word that was not yet as wanted, and its
	// value then.
	awaits *uint64
	stale  uint64
	none   uint64 // a word that never changes
}

// commMemory returns the memory of both series of a communicator that is being made.
func (p *Proc) commMemory(index uint32, g member.Group) *[2]agreementMemory {
	mem := new([2]agreementMemory)
	words := p.port.Block(g.Procs[0], g.Indices[0], segment.AgreementWords)
	lines := p.port.Block(g.Procs[0], g.Indices[0], segment.AgreementLines)
	for part := range mem {
		m := &mem[part]
		m.p, m.g, m.part, m.words, m.lines = p, &g, part, words, lines
		m.lineWords = lines.Words(0, lines.Size()/8)
		m.slotBytes = p.n * segment.AgreementBytes(p.n)
		m.awaits = &m.none
	}
	p.memories = append(p.memories, commMemory{index: index, series: mem})
	return mem
}

// place is the number of an agreement's place among those of both series.
func (m *agreementMemory) place(slot int) int { return m.part*onenode.Slots + slot }

// line returns where the line of a member stands. It is the same place for every
// communicator that has the block: so what one reads as the number of a line was never
// written as anything else.
func (m *agreementMemory) line(member, slot int) int {
	return m.slotAt(slot) + member*segment.Line
}

// slotAt returns where the lines of an agreement stand, and what belongs to it behind them.
func (m *agreementMemory) slotAt(slot int) int {
	return linesAt + m.place(slot)*m.slotBytes
}

// long returns the n bytes that a contribution has beside its line.
func (m *agreementMemory) long(member, slot, n int) []byte {
	if n > segment.ContributionBytes {
		return m.own(member, slot).Bytes(0, n)
	}
	at := m.slotAt(slot) + m.p.n*segment.Line + member*segment.ContributionBytes
	return m.lines.Bytes(at, n)
}

// value returns where a member offers a value.
func (m *agreementMemory) value(member, slot int) segment.Region {
	size := segment.ValueBytes(m.p.n)
	at := m.slotAt(slot) + m.p.n*(segment.Line+segment.ContributionBytes) + member*size
	return m.lines.Sub(at, size)
}

// result returns the words that hold the result of an agreement that was decided
// plainly: its number, stored last, and the flag. Whoever sees all lines may write
// them; all write the same.
func (m *agreementMemory) result(seq uint64) (number, flag *uint64) {
	at := m.place(int(seq%onenode.Slots)) * (segment.Line / 8)
	return &m.lineWords[at], &m.lineWords[at+1]
}

// own returns what a member has for an agreement in its own block.
func (m *agreementMemory) own(member, slot int) segment.Region {
	size := ownBytes(m.p.n)
	return m.p.port.Block(m.g.Procs[member], m.g.Indices[member], segment.ContributionPart).Sub(m.place(slot)*size, size)
}

// longValue is where a value stands there that does not fit beside the lines.
func (m *agreementMemory) longValue(member, slot int) segment.Region {
	s, at := m.own(member, slot), (onenode.LongMax(m.p.n)+segment.Line-1)&^(segment.Line-1)
	return s.Sub(at, s.Size()-at)
}

// commMemory is what openComm looks for when control has made a communicator.
type commMemory struct {
	index  uint32
	series *[2]agreementMemory
}

// A revocation on a node is a word in the first member's block, which every member that
// hears of it writes, and the epoch, which all who wait look at. Who dies in between
// moves the epoch by its death:
//
//	revoker: word = tag; epoch + 1; wakes the members
//	others:  the epoch has moved: is word = tag?
//
// The tag is of the first member's context index: no other communicator that has or had
// the block has the same. Nobody writes it once the communicator is closed, because all
// members have proposed that.
type revocation struct {
	word *uint64 // nil: by messages
	tag  uint64
}

func (p *Proc) revocationOf(c *Comm) revocation {
	if !c.shared {
		return revocation{}
	}
	words := p.port.Block(c.group.Procs[0], c.group.Indices[0], segment.AgreementWords)
	return revocation{word: words.Word(segment.WordBytes), tag: uint64(c.group.Indices[0]) + 1}
}

func (r revocation) seen() bool { return r.word != nil && segment.Load64(r.word) == r.tag }

// publishRevocation tells the other members, unless one of them has told this one.
func (p *Proc) publishRevocation(c *Comm) {
	if c.revocation.word == nil || c.revocation.seen() {
		return
	}
	segment.Store64(c.revocation.word, c.revocation.tag)
	p.node.MoveEpoch()
	p.notifyMembers(c)
}

// lookRevocations lets revocations take effect that others have published.
func (p *Proc) lookRevocations() {
	for _, c := range slices.Clone(p.live) { // a step may forget some
		if !c.revoked && c.revocation.seen() {
			p.step(control.Revoke{Comm: c.group.Index})
		}
	}
}

// takeMemory returns the memory that control has asked for when it made the
// communicator of that index; nil: none.
func (p *Proc) takeMemory(index uint32) *[2]agreementMemory {
	for i, m := range p.memories {
		if m.index == index {
			p.memories = append(p.memories[:i], p.memories[i+1:]...)
			return m.series
		}
	}
	return nil
}

// number is what a line holds whose contribution is there. The index is that of the
// first member, in whose block the line is: it names the communicator among all that
// ever had the block.
func (m *agreementMemory) number(seq uint64) uint64 {
	return uint64(m.g.Indices[0])<<32 | uint64(uint32(seq))
}

// Publish implements onenode.Memory.
func (m *agreementMemory) Publish(slot int, seq uint64, l onenode.Line, long []byte) {
	at := m.line(m.g.Me, slot)
	w := m.lineWords[at/8:][:lineEnd/8]
	word := &w[lineSeq/8]
	if segment.Load64(word)>>32 != uint64(m.g.Indices[0]) {
		// Of a communicator that is closed, though a slow member of it may still look:
		// it must not take the old number for that of the new line.
		segment.Store64(word, m.number(0))
	}
	if len(long) > 0 {
		segment.Copy(m.long(m.g.Me, slot, len(long)), long)
	}
	segment.Put64(&w[lineCall/8], l.Call)
	segment.Put64(&w[lineFlag/8], l.Flag)
	segment.Put64(&w[lineLong/8], uint64(l.LongBytes))
	segment.Store64(word, m.number(seq))
	m.p.published = true
}

// Read implements onenode.Memory.
func (m *agreementMemory) Read(member, slot int, seq uint64) (l onenode.Line, there bool) {
	at, want := m.line(member, slot), m.number(seq)
	w := m.lineWords[at/8:][:lineEnd/8]
	word := &w[lineSeq/8]
	if v := segment.Load64(word); v != want {
		m.awaits, m.stale = word, v
		return l, false
	}
	l.Call, l.Flag, l.LongBytes = w[lineCall/8], w[lineFlag/8], uint32(w[lineLong/8])
	return l, segment.Load64(word) == want
}

// Long implements onenode.Memory.
func (m *agreementMemory) Long(member, slot, n int) []byte {
	if n > onenode.LongMax(m.p.n) {
		return nil
	}
	word := m.lines.Word(m.line(member, slot))
	before := segment.Load64(word)
	m.p.copied = append(m.p.copied[:0], m.long(member, slot, n)...)
	if before>>32 != uint64(m.g.Indices[0]) || segment.Load64(word) != before {
		return nil
	}
	return m.p.copied
}

// Offer implements onenode.Memory.
func (m *agreementMemory) Offer(slot int, value []byte) {
	s := m.value(m.g.Me, slot)
	if len(value) > s.Size()-valueHead {
		writeValue(m.longValue(m.g.Me, slot), m.g.Indices[m.g.Me], value)
	}
	writeValue(s, m.g.Indices[0], value)
}

// writeValue writes a value, or of one that is too long for its place the length. The
// tag, stored last, names the communicator among all that ever had the block.
func writeValue(s segment.Region, index uint32, value []byte) {
	segment.Store64(s.Word(0), 0)
	if len(value) <= s.Size()-valueHead {
		segment.Copy(s.Bytes(valueHead, len(value)), value)
	}
	segment.Store64(s.Word(8), uint64(len(value)))
	segment.Store64(s.Word(0), uint64(index)+1)
}

// Value implements onenode.Memory.
func (m *agreementMemory) Value(member, slot int) []byte {
	b, long := m.readValue(m.value(member, slot), m.g.Indices[0])
	if long {
		b, _ = m.readValue(m.longValue(member, slot), m.g.Indices[member])
	}
	return b
}

// readValue reads what writeValue has written: nil if it is another communicator's, or
// too long for its place.
func (m *agreementMemory) readValue(s segment.Region, index uint32) (b []byte, long bool) {
	tag, n := uint64(index)+1, segment.Load64(s.Word(8))
	if segment.Load64(s.Word(0)) != tag {
		return nil, false
	}
	if n > uint64(s.Size()-valueHead) {
		return nil, true
	}
	m.p.copied = append(m.p.copied[:0], s.Bytes(valueHead, int(n))...)
	if segment.Load64(s.Word(0)) != tag {
		return nil, false
	}
	return m.p.copied, false
}

// Word implements onenode.Memory.
func (m *agreementMemory) Word(slot int) uint64 {
	return segment.Load64(m.words.Word(8 * m.place(slot)))
}

// Swap implements onenode.Memory.
func (m *agreementMemory) Swap(slot int, old, new uint64) bool {
	return segment.CompareAndSwap64(m.words.Word(8*m.place(slot)), old, new)
}

// openMemory notes that something on c goes through memory: progress looks at it.
func (p *Proc) openMemory(c *Comm) {
	for _, o := range p.open {
		if o == c {
			return
		}
	}
	p.open = append(p.open, c)
	p.openCount.Store(int32(len(p.open)))
}

// moved says whether what the last look waited for has changed.
func (m *agreementMemory) moved() bool {
	return m.awaits == nil || segment.Load64(m.awaits) != m.stale
}

// lookMemory lets what has moved in memory take effect. It says whether anything
// happened.
func (p *Proc) lookMemory() bool {
	did := false
	for i := len(p.open) - 1; i >= 0; i-- {
		if i >= len(p.open) {
			continue // one step closed several
		}
		c := p.open[i]
		if c.collective != nil {
			did = c.advanceRequest() || did
		}
		did = p.part(c) || did
		looking := p.ctl.Looking(c.group.Index)
		if looking && (c.mem[0].moved() || c.mem[1].moved()) {
			c.mem[0].awaits, c.mem[1].awaits = nil, nil
			p.step(control.Look{Comm: c.group.Index})
			looking = p.ctl.Looking(c.group.Index)
			did = did || !looking
			c.settleAwaits()
		}
		if !looking && c.collective == nil && !c.messages {
			p.open = append(p.open[:i], p.open[i+1:]...)
			p.openCount.Store(int32(len(p.open)))
		}
	}
	return did
}

// settleAwaits keeps a series without anything open from asking for looks.
func (c *Comm) settleAwaits() {
	for i := range c.mem {
		if m := &c.mem[i]; m.awaits == nil {
			m.awaits, m.stale = &m.none, 0
		}
	}
}

// memoryMoved is asked before this process sleeps; the caller does not hold mu.
func (p *Proc) memoryMoved() bool {
	if p.openCount.Load() == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		if p.ctl.Looking(c.group.Index) && (c.mem[0].moved() || c.mem[1].moved()) || c.collective != nil && c.collectiveMoved() || c.partsWays() {
			return true
		}
	}
	return false
}

// diagnose calls f, which may look at memory only to tell a person: what the last
// look waited for stays as it is.
func (p *Proc) diagnose(f func()) {
	type awaited struct {
		word  *uint64
		stale uint64
	}
	var kept []awaited
	of := func(visit func(m *agreementMemory)) {
		for _, c := range p.open {
			if c.mem != nil {
				visit(&c.mem[0])
				visit(&c.mem[1])
			}
		}
	}
	of(func(m *agreementMemory) { kept = append(kept, awaited{m.awaits, m.stale}) })
	f()
	of(func(m *agreementMemory) {
		m.awaits, m.stale = kept[0].word, kept[0].stale
		kept = kept[1:]
	})
}

// notifyMembers wakes the other members if they sleep. It reads nothing that changes: the
// caller need not hold mu.
func (p *Proc) notifyMembers(c *Comm) {
	p.node.NotifyAll(c.group.Procs, park.Caller|park.Background)
}

// agreeNow makes an agreement the fast way: one line published, the others' lines
// read, no event and no value. If it is not that simple it returns the request with
// which the agreement goes on; nil: it has not begun.
func (c *Comm) agreeNow(ctx context.Context, call member.Call, flag uint64, what string) (out member.Outcome, r *Request, ok bool) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.called()
	if !c.quiet() || c.plain != nil || !p.ctl.Plain(c.group.Index) || !p.takeLead(caller) {
		return out, nil, false
	}
	defer p.leaveLocked()
	m := &c.mem[member.SeriesRepair]
	r = p.newCall(c, what)
	c.plain, c.plainCall, c.plainFlag = r, call, flag
	seq := p.ctl.EnterPlain(c.group.Index, call, flag)
	var number, result *uint64
	// Where ranks outnumber cores the last to come writes the result for all: each of
	// them reading all lines, with a cold cache, takes longer than everything else.
	central := p.cfg.YieldPolls > 0 && c.Size() > centralMin
	if central {
		number, result = m.result(seq)
	}
	for last := true; c.plain == r; last = false {
		agreed, state := uint64(0), onenode.Waiting
		if !central || last {
			agreed, state = p.ctl.PollPlain(c.group.Index)
		}
		if central && state == onenode.Waiting {
			m.awaits, m.stale = number, segment.Load64(number)
			if m.stale == m.number(seq) {
				agreed, state = segment.Load64(result), onenode.Decided
				p.ctl.ConcludePlain(c.group.Index)
			}
		}
		if state == onenode.Decided {
			c.plain = nil
			p.free(r) // nobody else has heard of it
			if last && central {
				segment.Store64(result, agreed)
				segment.Store64(number, m.number(seq))
			}
			if last {
				p.notifyMembers(c)
			}
			p.published = false
			return member.Outcome{Seq: seq, Call: call, Flag: agreed}, nil, true
		}
		if state == onenode.Mixed || !p.watchWord(ctx, m.awaits, m.stale) {
			break
		}
	}
	if c.plain == r {
		m.awaits, m.stale = &m.none, 0
		c.adoptPlain()
	}
	// Else another goroutine's agreement came behind this one and has adopted it. What the
	// series waits for since then stays: reset, nobody would look at the lines any more.
	return out, r, false
}

// centralMin is up to how many members each looks at all lines itself.
const centralMin = 4

// adoptPlain has an agree that was entered the fast way go on like others.
func (c *Comm) adoptPlain() {
	if r := c.plain; r != nil {
		c.plain = nil
		c.p.hand(r, control.Propose{Call: c.plainCall, Flag: c.plainFlag, Entered: true})
	}
}

// watchWord leads, without mu, until a word in memory changes, or anything else asks
// for attention, or it has looked often enough.
func (p *Proc) watchWord(ctx context.Context, word *uint64, stale uint64) (moved bool) {
	cancelled, epoch := p.watchContext(ctx), p.epochSeen.Load()
	yield, pollsMax := p.cfg.YieldPolls > 0, p.spin.Looks()
	if yield {
		pollsMax = p.cfg.YieldPolls
	}
	polls, moved := p.lookKeenly(word, stale, -1)
	if moved {
		return true
	}
	for polls < pollsMax {
		p.mu.Unlock()
		attention := false
		for ; polls < pollsMax; polls++ {
			if moved = atomic.LoadUint64(word) != stale; moved || p.node.Epoch() != epoch {
				break
			}
			if attention = (yield || polls&15 == 15) && (p.port.Pending(-1) || cancelled != nil && cancelled.Load()); attention {
				polls++
				break
			}
			if yield {
				p.node.Yield()
			} else {
				park.Pause(1)
			}
		}
		p.mu.Lock()
		if moved && !yield {
			p.learn(polls, false)
		}
		if !attention || cancelled != nil && cancelled.Load() {
			return moved
		}
		p.progress() // others' messages: they must not keep a short wait from being one
	}
	return false
}
