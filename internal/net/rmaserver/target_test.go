package rmaserver

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/protocol/robustlock"
)

// plain is a memory that no other process has.
type plain struct {
	data              []byte
	counters          []int
	posted, completed map[int]uint64
	marked            []uint64
}

func newPlain(bytes, counters int) *plain {
	return &plain{data: make([]byte, bytes), counters: make([]int, counters), posted: map[int]uint64{}, completed: map[int]uint64{}}
}

func (m *plain) Bytes() int               { return len(m.data) }
func (m *plain) Put(at int, data []byte)  { copy(m.data[at:at+len(data)], data) }
func (m *plain) Get(at int, dst []byte)   { copy(dst, m.data[at:at+len(dst)]) }
func (m *plain) Load(at, size int) uint64 { return byteview.BitsAt(m.data[at:], size) }
func (m *plain) Swap(at, size int, v uint64) uint64 {
	was := m.Load(at, size)
	byteview.SetBitsAt(m.data[at:], size, v)
	return was
}
func (m *plain) CompareAndSwap(at, size int, old, v uint64) uint64 {
	was := m.Load(at, size)
	if was == old {
		m.Swap(at, size, v)
	}
	return was
}
func (m *plain) Combines(kernel, elem uint8, size int) bool { return kernel == 1 && elem == 1 }
func (m *plain) Combine(_, _ uint8, at, size int, in, were []byte) {
	for off := 0; off < len(in); off += size {
		was := m.Load(at+off, size)
		m.Swap(at+off, size, was+byteview.BitsAt(in[off:], size))
		if were != nil {
			byteview.SetBitsAt(were[off:], size, was)
		}
	}
}
func (m *plain) Count(slot uint64) bool {
	if slot >= uint64(len(m.counters)) {
		return false
	}
	m.counters[slot]++
	return true
}
func (m *plain) Posted(origin int, n uint64)    { m.posted[origin] = n }
func (m *plain) Completed(origin int, n uint64) { m.completed[origin] = n }
func (m *plain) MarkDead(rank uint64) bool {
	m.marked = append(m.marked, rank)
	return rank < 4
}

// door is a gate that refuses the closed origins, and checks that there is one admission at a
// time.
type door struct {
	closed map[int]bool
	inside int
}

func (d *door) Admit(origin int) bool {
	if d.closed[origin] {
		return false
	}
	d.inside++
	return d.inside == 1
}

func (d *door) Dismiss() { d.inside-- }

// turns is a lock that one origin has at a time, in the order of the requests.
type turns struct {
	queue    []int
	dead     map[int]bool
	returned int
}

// turn is one origin's part in the lock.
type turn struct {
	all    *turns
	origin int
	out    robustlock.Outcome
	broken uint64
}

func (l *turn) Lock(m robustlock.Mode) robustlock.Outcome {
	l.out = robustlock.Waiting
	l.all.queue = append(l.all.queue, l.origin)
	return l.Look()
}

func (l *turn) Look() robustlock.Outcome {
	switch first := l.all.queue[0]; {
	case l.out != robustlock.Waiting:
	case first == l.origin:
		l.out = robustlock.Held
	case l.all.dead[first]:
		l.out, l.broken = robustlock.Broken, uint64(first)
		l.leave()
	}
	return l.out
}

func (l *turn) leave() {
	for i, o := range l.all.queue {
		if o == l.origin {
			l.all.queue = append(l.all.queue[:i], l.all.queue[i+1:]...)
			return
		}
	}
}
func (l *turn) Outcome() robustlock.Outcome { return l.out }
func (l *turn) Unlock()                     { l.leave(); l.out = robustlock.Idle }
func (l *turn) Withdraw()                   { l.leave(); l.out = robustlock.Idle }
func (l *turn) Return()                     { l.all.returned++; l.leave(); l.out = robustlock.Idle }
func (l *turn) Dead() uint64                { return l.broken }

// world is a target and its parts.
type world struct {
	*Target
	memory *plain
	lock   *turns
	door   *door
}

func newWorld() world {
	m, l, d := newPlain(64, 2), &turns{dead: map[int]bool{}}, &door{closed: map[int]bool{}}
	return world{New(m, d, func(origin int) Locker { return &turn{all: l, origin: origin} }), m, l, d}
}

func (w world) do(t *testing.T, from int, f Frame) []Answer {
	t.Helper()
	answers, err := w.Step(from, f.Append(nil))
	require.NoError(t, err)
	return answers
}

// TestOperations: the effect and the answer of each operation.
func TestOperations(t *testing.T) {
	w := newWorld()
	assert.Empty(t, w.do(t, 1, Frame{Op: Put, At: 8, Data: []byte{1, 2, 3, 4, 5, 6, 7, 8}}))
	assert.Equal(t, []Answer{{1, 7, []byte{3, 4}}}, w.do(t, 1, Frame{Op: Get, Reply: 7, At: 10, Count: 2}))
	assert.Equal(t, []Answer{{2, 8, word(0x0201)}}, w.do(t, 2, Frame{Op: Load, Reply: 8, At: 8, Size: 2}))
	assert.Empty(t, w.do(t, 2, Frame{Op: Swap, At: 16, Size: 8, Operand: 40}))
	assert.Equal(t, []Answer{{2, 9, word(40)}}, w.do(t, 2, Frame{Op: CompareAndSwap, Reply: 9, At: 16, Size: 8, Count: 41, Operand: 1}), "another value")
	assert.Equal(t, []Answer{{2, 9, word(40)}}, w.do(t, 2, Frame{Op: CompareAndSwap, Reply: 9, At: 16, Size: 8, Count: 40, Operand: 50}))
	two := append(word(1), word(2)...)
	assert.Equal(t, []Answer{{3, 4, append(word(50), word(0)...)}}, w.do(t, 3, Frame{Op: Accumulate, Reply: 4, Kernel: 1, Elem: 1, Size: 8, At: 16, Data: two}))
	assert.Empty(t, w.do(t, 3, Frame{Op: Accumulate, Kernel: 1, Elem: 1, Size: 8, At: 16, Data: two}))
	assert.Equal(t, []uint64{52, 4}, []uint64{w.memory.Load(16, 8), w.memory.Load(24, 8)})
	assert.Empty(t, w.do(t, 3, Frame{Op: Notify, At: 1}))
	assert.Empty(t, w.do(t, 3, Frame{Op: Notify, At: 2}), "there is none")
	assert.Equal(t, []int{0, 1}, w.memory.counters)
	assert.Equal(t, []Answer{{3, 5, nil}}, w.do(t, 3, Frame{Op: Flush, Reply: 5}))
	w.do(t, 2, Frame{Op: Posted, Count: 6})
	w.do(t, 2, Frame{Op: Completed, Count: 3})
	assert.Equal(t, uint64(6), w.memory.posted[2])
	assert.Equal(t, uint64(3), w.memory.completed[2])
}

// TestLocks: one origin holds the lock, others wait for their answers; a wait is given up; a dead
// holder is named.
func TestLocks(t *testing.T) {
	w := newWorld()
	held, lock := Granted{Held: true}.append(nil), func(reply uint64) Frame { return Frame{Op: Lock, Reply: reply, Mode: uint8(robustlock.Exclusive)} }
	assert.Equal(t, []Answer{{1, 10, held}}, w.do(t, 1, lock(10)))
	assert.False(t, w.Waits())
	assert.Empty(t, w.do(t, 2, lock(20)))
	assert.Empty(t, w.do(t, 3, lock(30)))
	assert.True(t, w.Waits())
	assert.Empty(t, w.Look())
	assert.Empty(t, w.do(t, 2, Frame{Op: Unlock}), "given up")
	assert.Equal(t, []Answer{{3, 30, held}, {1, 11, nil}}, w.do(t, 1, Frame{Op: Unlock, Reply: 11}))
	assert.False(t, w.Waits())
	assert.Empty(t, w.do(t, 2, lock(21)))
	w.lock.dead[3] = true
	w.Died(3)
	assert.Equal(t, []Answer{{2, 21, Granted{Dead: 3}.append(nil)}}, w.Look())
	assert.Empty(t, w.Look(), "it is told once")
	g, err := ReadGranted(Granted{Dead: 3}.append(nil))
	assert.Equal(t, Granted{Dead: 3}, g)
	assert.NoError(t, err)
	_, err = ReadGranted(nil)
	assert.Error(t, err)
}

// TestNothingOfTheDead: no request of an origin takes effect once any member may know that it is
// dead, and the origin gets no lock for which it waited (W7, W12). An Unlock of another origin
// makes no step for the dead origin either.
func TestNothingOfTheDead(t *testing.T) {
	w := newWorld()
	lock := func(reply uint64) Frame { return Frame{Op: Lock, Reply: reply, Mode: uint8(robustlock.Exclusive)} }
	held := Granted{Held: true}.append(nil)
	assert.Equal(t, []Answer{{1, 10, held}}, w.do(t, 1, lock(10)))
	assert.Empty(t, w.do(t, 2, lock(20)))
	w.door.closed[2] = true
	assert.Empty(t, w.do(t, 2, Frame{Op: Put, Data: []byte{1}}))
	assert.Empty(t, w.do(t, 2, Frame{Op: Notify}))
	assert.Empty(t, w.do(t, 2, Frame{Op: Flush, Reply: 21}))
	assert.Zero(t, w.memory.data[0])
	assert.Zero(t, w.memory.counters[0])
	assert.Equal(t, []Answer{{1, 11, nil}}, w.do(t, 1, Frame{Op: Unlock, Reply: 11}), "2 is not granted the lock")
	assert.Empty(t, w.Look())
	assert.Equal(t, robustlock.Waiting, w.asker(2).lock.Outcome())
	assert.Zero(t, w.door.inside)
}

// TestDeathToldByAnotherMember: a member that knows of a death reports it before its next
// request.
func TestDeathToldByAnotherMember(t *testing.T) {
	w := newWorld()
	assert.Empty(t, w.do(t, 1, Frame{Op: Dead, At: 2}))
	assert.Equal(t, []uint64{2}, w.memory.marked)
}

// TestBadFrames: a frame that no origin sends changes nothing.
func TestBadFrames(t *testing.T) {
	for what, f := range map[string]Frame{
		"no operation":      {},
		"unknown operation": {Op: last},
		"behind the end":    {Op: Put, At: 60, Data: make([]byte, 5)},
		"far behind it":     {Op: Get, Reply: 1, At: 1 << 63, Count: 1 << 63},
		"half a number":     {Op: Accumulate, Kernel: 1, Elem: 1, Size: 8, Data: make([]byte, 12)},
		"odd size":          {Op: Load, Reply: 1, Size: 3},
		"odd place":         {Op: Swap, At: 4, Size: 8},
		"no such operation": {Op: Accumulate, Kernel: 2, Elem: 1, Size: 8, Data: make([]byte, 8)},
		"data of a get":     {Op: Get, Reply: 1, Data: []byte{1}},
		"no answer":         {Op: Load, Size: 8},
		"silent flush":      {Op: Flush},
	} {
		w := newWorld()
		answers, err := w.Step(1, f.Append(nil))
		assert.Error(t, err, what)
		assert.Empty(t, answers, what)
		assert.Equal(t, make([]byte, 64), w.memory.data, what)
	}
	_, err := Read(make([]byte, HeadBytes-1))
	assert.Error(t, err)
}

// FuzzStep: a target stays within its memory for all input, and a frame that is read is written
// the same.
func FuzzStep(f *testing.F) {
	for _, x := range []Frame{{Op: Put, At: 8, Data: []byte{1}}, {Op: Get, Reply: 1, Count: 3}, {Op: Accumulate, Kernel: 1, Elem: 1, Size: 4, Data: make([]byte, 8)},
		{Op: Lock, Reply: 3, Mode: 2}, {Op: Unlock}, {Op: CompareAndSwap, Reply: 2, Size: 8, Operand: 5}, {Op: Notify, At: 1}, {Op: Dead, At: 2}} {
		f.Add(x.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newWorld()
		_, _ = w.Step(1, b)
		if x, err := Read(b); err == nil {
			assert.Equal(t, b, x.Append(nil))
			assert.Less(t, x.Op, last)
			assert.Equal(t, binary.LittleEndian.Uint64(b), x.Reply)
		}
	})
}

// TestDeathOfOneWhoWaits: a dead waiter gets no more steps, and no answer.
func TestDeathOfOneWhoWaits(t *testing.T) {
	w := newWorld()
	lock := func(reply uint64) Frame { return Frame{Op: Lock, Reply: reply, Mode: uint8(robustlock.Exclusive)} }
	w.do(t, 1, lock(10))
	assert.Empty(t, w.do(t, 2, lock(20)))
	assert.True(t, w.Waits())
	w.Died(2)
	assert.False(t, w.Waits())
	w.Died(3) // 3 has sent no request
	assert.Equal(t, []Answer{{1, 11, nil}}, w.do(t, 1, Frame{Op: Unlock, Reply: 11}))
}

// TestWithdrawReturnsTheLock: the target returns an unused lock for an origin that gives up before the
// answer arrives. Another withdrawal ends a wait, and an Unlock ends a hold.
func TestWithdrawReturnsTheLock(t *testing.T) {
	w := newWorld()
	step := func(from int, f Frame) []Answer {
		answers, err := w.Step(from, f.Append(nil))
		require.NoError(t, err)
		return answers
	}
	lock := Frame{Op: Lock, Mode: uint8(robustlock.Mend), Reply: 1}
	assert.Len(t, step(1, lock), 1, "granted")
	assert.Empty(t, step(2, lock), "2 waits")
	assert.Len(t, step(1, Frame{Op: Withdraw}), 1, "2 gets the lock")
	assert.Equal(t, 1, w.lock.returned)
	assert.Empty(t, step(1, lock))
	assert.Empty(t, step(1, Frame{Op: Withdraw}))
	assert.Equal(t, 1, w.lock.returned, "a wait is withdrawn")
	step(2, Frame{Op: Unlock})
	assert.Equal(t, 1, w.lock.returned, "a hold that is known is unlocked")
	assert.Empty(t, w.lock.queue)
}
