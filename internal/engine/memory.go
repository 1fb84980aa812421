package engine

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/internal/park"
	"github.com/goulfm/goulfm/internal/segment"
	"github.com/goulfm/goulfm/ulfm"
)

// shareMemory has the agreements of this process made in the memory of the node,
// where that is possible: deaths must be exact.
func (p *Proc) shareMemory(cfg *control.Config) {
	if p.port == nil || p.cfg.Detector.Mode != fd.Exact || p.cfg.Messages || p.port.ReachAll() != nil {
		return
	}
	p.shares = true
	cfg.Blocks = segment.Blocks
	cfg.Prepare = p.prepareBlock
	cfg.Memory = func(index uint32, g ulfm.Group) (repair, create onenode.Memory) {
		c := p.commMemory(index, g)
		return &c[0], &c[1]
	}
}

// The place of an agreement in a member's memory: a line of the contribution, a line
// of the decision word, what is beside the line, and the value.
const (
	wordAt = 1 * segment.Line
	longAt = 2 * segment.Line

	// Of the line.
	lineSeq  = 0 // tag<<32 | number, stored last
	lineCall = 8
	lineFlag = 16
	lineLong = 24
	lineEnd  = 32
	// Of the value: its tag and length, then its bytes.
	valueHead = 16
)

func slotBytes(procs int) int {
	return segment.PartBytes(segment.AgreementPart, procs) / (2 * onenode.Slots) &^ (segment.Line - 1)
}

// valueAt is where the value stands in a slot, for a group of n.
func valueAt(n int) int {
	return (longAt + onenode.LongMax(n) + segment.Line - 1) &^ (segment.Line - 1)
}

// prepareBlock tags the decision words of a block before anybody hears of the context
// index, so that nobody takes what an earlier communicator left there for its own.
func (p *Proc) prepareBlock(index uint32) {
	r := p.port.Block(p.me, index, segment.AgreementPart)
	for slot := range 2 * onenode.Slots {
		segment.Store64(r.Word(slot*slotBytes(p.n)+wordAt), uint64(index)<<32)
	}
}

// An agreementMemory is the memory of one series of one communicator as this member
// sees it. It implements onenode.Memory.
type agreementMemory struct {
	me      int
	members []memberMemory
	words   [onenode.Slots]*uint64
	stage   [lineEnd - lineCall]byte

	// What the last look waited for: the word that was not yet as wanted, and its
	// value then; nil: nothing is awaited.
	awaits *uint64
	stale  uint64
	none   uint64 // a word that never changes
}

type memberMemory struct {
	tag   uint32 // the context index that the member drew
	slots [onenode.Slots]segment.Region
	seqs  [onenode.Slots]*uint64
	value int // offset in a slot
}

// commMemory returns the memory of both series of a communicator that is being made.
func (p *Proc) commMemory(index uint32, g ulfm.Group) *[2]agreementMemory {
	mem := new([2]agreementMemory)
	n := len(g.Procs)
	for part := range mem {
		m := &mem[part]
		m.me, m.members, m.awaits = g.Me, make([]memberMemory, n), &m.none
		for rank, proc := range g.Procs {
			block := p.port.Block(proc, g.Indices[rank], segment.AgreementPart)
			mm := &m.members[rank]
			mm.tag, mm.value = g.Indices[rank], valueAt(n)
			for slot := range mm.slots {
				mm.slots[slot] = block.Sub((part*onenode.Slots+slot)*slotBytes(p.n), slotBytes(p.n))
				mm.seqs[slot] = mm.slots[slot].Word(lineSeq)
			}
			if rank == 0 {
				for slot := range m.words {
					m.words[slot] = mm.slots[slot].Word(wordAt)
				}
			}
		}
	}
	p.memories = append(p.memories, commMemory{index: index, series: mem})
	return mem
}

// commMemory is what openComm looks for when control has made a communicator.
type commMemory struct {
	index  uint32
	series *[2]agreementMemory
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

func numberOf(tag uint32, seq uint64) uint64 { return uint64(tag)<<32 | uint64(uint32(seq)) }

// Publish implements onenode.Memory.
func (m *agreementMemory) Publish(slot int, seq uint64, l onenode.Line, long []byte) {
	mm := &m.members[m.me]
	s := mm.slots[slot]
	if segment.Load64(mm.seqs[slot])>>32 != uint64(mm.tag) {
		// Of a communicator that is closed, though a slow member of it may still look:
		// it must not take the old number for that of the new line.
		segment.Store64(mm.seqs[slot], numberOf(mm.tag, 0))
	}
	if len(long) > 0 {
		segment.Copy(s.Bytes(longAt, len(long)), long)
	}
	binary.LittleEndian.PutUint64(m.stage[:], l.Call)
	binary.LittleEndian.PutUint64(m.stage[lineFlag-lineCall:], l.Flag)
	binary.LittleEndian.PutUint64(m.stage[lineLong-lineCall:], uint64(l.LongBytes))
	segment.Copy(s.Bytes(lineCall, len(m.stage)), m.stage[:])
	segment.Store64(mm.seqs[slot], numberOf(mm.tag, seq))
}

// Read implements onenode.Memory.
func (m *agreementMemory) Read(member, slot int, seq uint64) (l onenode.Line, there bool) {
	mm := &m.members[member]
	want := numberOf(mm.tag, seq)
	if v := segment.Load64(mm.seqs[slot]); v != want {
		m.awaits, m.stale = mm.seqs[slot], v
		return l, false
	}
	b := mm.slots[slot].Bytes(0, lineEnd)
	l.Call = binary.LittleEndian.Uint64(b[lineCall:])
	l.Flag = binary.LittleEndian.Uint64(b[lineFlag:])
	l.LongBytes = uint32(binary.LittleEndian.Uint64(b[lineLong:]))
	return l, segment.Load64(mm.seqs[slot]) == want
}

// Long implements onenode.Memory.
func (m *agreementMemory) Long(member, slot, n int) []byte {
	mm := &m.members[member]
	if longAt+n > mm.value {
		return nil
	}
	before := segment.Load64(mm.seqs[slot])
	b := append([]byte(nil), mm.slots[slot].Bytes(longAt, n)...)
	if before>>32 != uint64(mm.tag) || segment.Load64(mm.seqs[slot]) != before {
		return nil
	}
	return b
}

// Offer implements onenode.Memory.
func (m *agreementMemory) Offer(slot int, value []byte) {
	mm := &m.members[m.me]
	s := mm.slots[slot]
	segment.Store64(s.Word(mm.value), 0)
	segment.Copy(s.Bytes(mm.value+valueHead, len(value)), value)
	segment.Store64(s.Word(mm.value+8), uint64(len(value)))
	segment.Store64(s.Word(mm.value), uint64(mm.tag)+1)
}

// Value implements onenode.Memory.
func (m *agreementMemory) Value(member, slot int) []byte {
	mm := &m.members[member]
	s := mm.slots[slot]
	n := segment.Load64(s.Word(mm.value + 8))
	if segment.Load64(s.Word(mm.value)) != uint64(mm.tag)+1 || n > uint64(s.Size()-mm.value-valueHead) {
		return nil
	}
	b := append([]byte(nil), s.Bytes(mm.value+valueHead, int(n))...)
	if segment.Load64(s.Word(mm.value)) != uint64(mm.tag)+1 {
		return nil
	}
	return b
}

// Word implements onenode.Memory.
func (m *agreementMemory) Word(slot int) uint64 { return segment.Load64(m.words[slot]) }

// Swap implements onenode.Memory.
func (m *agreementMemory) Swap(slot int, old, new uint64) bool {
	return segment.CompareAndSwap64(m.words[slot], old, new)
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
	for _, c := range p.open {
		kept = append(kept, awaited{c.mem[0].awaits, c.mem[0].stale}, awaited{c.mem[1].awaits, c.mem[1].stale})
	}
	f()
	for i, a := range kept {
		m := &p.open[i/2].mem[i%2]
		m.awaits, m.stale = a.word, a.stale
	}
}

// notifyMembers wakes the other members if they sleep.
func (p *Proc) notifyMembers(c *Comm) {
	for _, proc := range c.group.Procs {
		if proc != p.me && !p.peers[proc].dead {
			p.tr.Notify(proc, park.Caller|park.Background)
		}
	}
}

// agreeNow makes an agreement the fast way: one line published, the others' lines
// read, no event and no value. If it is not that simple it returns the request with
// which the agreement goes on; nil: it has not begun.
func (c *Comm) agreeNow(ctx context.Context, call ulfm.Call, flag uint64, what string) (out ulfm.Outcome, r *Request, ok bool) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if !c.quiet() || c.plain != nil || !p.ctl.Plain(c.group.Index) || !p.lead.CompareAndSwap(nobody, caller) {
		return out, nil, false
	}
	defer p.leaveLocked()
	m := &c.mem[ulfm.SeriesRepair]
	r = p.newCall(c, what)
	c.plain, c.plainCall, c.plainFlag = r, call, flag
	seq := p.ctl.EnterPlain(c.group.Index, call, flag)
	for last := true; c.plain == r; last = false {
		agreed, state := p.ctl.PollPlain(c.group.Index)
		if state == onenode.Decided {
			c.plain = nil
			p.complete(r, nil)
			p.free(r)
			if last {
				p.notifyMembers(c)
			}
			return ulfm.Outcome{Seq: seq, Call: call, Flag: agreed}, nil, true
		}
		if state == onenode.Mixed || !p.watchWord(ctx, m.awaits, m.stale) {
			break
		}
	}
	c.adoptPlain()
	return out, r, false
}

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
	yield, pollsMax := p.cfg.YieldPolls > 0, p.cfg.SpinPolls
	if yield {
		pollsMax = p.cfg.YieldPolls
	}
	for polls := 0; polls < pollsMax; {
		p.mu.Unlock()
		attention := false
		for ; polls < pollsMax; polls++ {
			if moved = atomic.LoadUint64(word) != stale; moved || p.port.Epoch() != epoch {
				break
			}
			if attention = (yield || polls&15 == 15) && (p.port.Pending(-1) || cancelled != nil && cancelled.Load()); attention {
				polls++
				break
			}
			if yield {
				p.port.Yield()
			} else {
				park.Pause(1)
			}
		}
		p.mu.Lock()
		if !attention || cancelled != nil && cancelled.Load() {
			return moved
		}
		p.progress() // others' messages: they must not keep a short wait from being one
	}
	return false
}
