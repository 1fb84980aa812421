package twolevel

import (
	"encoding/binary"
	"slices"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// tag names the communicator of all tests.
const tag = 5

// ram is the memory of one node: by slot, as far as used, then by member.
type ram struct{ slots []ramSlot }

type ramSlot struct {
	lines  []ramLine
	values [][]byte
	word   uint64
}

type ramLine struct {
	seq  uint64
	line onenode.Line
	long []byte
}

func (m *ram) slot(i, members int) *ramSlot {
	for len(m.slots) <= i {
		m.slots = append(m.slots, ramSlot{lines: make([]ramLine, members), values: make([][]byte, members), word: tag << 32})
	}
	return &m.slots[i]
}

// clone shares bytes, which are never written.
func (m *ram) clone() *ram {
	c := &ram{slots: slices.Clone(m.slots)}
	for i := range c.slots {
		s := &c.slots[i]
		s.lines, s.values = slices.Clone(s.lines), slices.Clone(s.values)
	}
	return c
}

func (m *ram) append(b []byte) []byte {
	for _, s := range m.slots {
		b = binary.AppendUvarint(b, s.word)
		for i, l := range s.lines {
			b = binary.AppendUvarint(binary.AppendUvarint(b, l.seq), l.line.Flag)
			b = wire.AppendBytes(wire.AppendBytes(b, l.long), s.values[i])
		}
	}
	return append(b, 255)
}

// view is a member's view of the memory of its node.
type view struct {
	ram         *ram
	me, members int
	writes      int                              // the remaining number before the member stops; -1: any number
	log         func(format string, args ...any) // called at changes that others can see; may be nil
}

// stopped is the panic of a member that dies in the middle of a Step.
type stopped struct{}

func (v *view) write() {
	if v.writes == 0 {
		panic(stopped{})
	}
	v.writes--
}

func (v *view) note(format string, args ...any) {
	if v.log != nil {
		v.log(format, args...)
	}
}

func (v *view) at(slot int) *ramSlot { return v.ram.slot(slot, v.members) }

func (v *view) Publish(slot int, seq uint64, l onenode.Line, long []byte) {
	v.write()
	v.at(slot).lines[v.me] = ramLine{seq, l, slices.Clone(long)}
	v.note("line of #%d", seq)
}

func (v *view) Read(m, slot int, seq uint64) (onenode.Line, bool) {
	l := v.at(slot).lines[m]
	return l.line, l.seq == seq
}

func (v *view) Long(m, slot, n int) []byte { return slices.Clone(v.at(slot).lines[m].long[:n]) }

func (v *view) Offer(slot int, value []byte) {
	v.write()
	v.at(slot).values[v.me] = slices.Clone(value)
}

func (v *view) Value(m, slot int) []byte { return slices.Clone(v.at(slot).values[m]) }

func (v *view) Word(slot int) uint64 { return v.at(slot).word }

func (v *view) Swap(slot int, old, new uint64) bool {
	v.write()
	s := v.at(slot)
	if s.word != old {
		return false
	}
	s.word = new
	v.note("word of #%d", uint16(new>>16))
	return true
}
