package rmaserver

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/robustlock"
)

// Memory is the part of its owner's memory that a Target serves: Bytes of elements, and counters.
type Memory interface {
	// Bytes returns the number of bytes.
	Bytes() int
	// Put stores data from byte at on, Get fills dst from there: each element as a whole.
	Put(at int, data []byte)
	Get(at int, dst []byte)
	// Load, Swap and CompareAndSwap are atomic operations on the number of size bytes at byte at,
	// in the lowest bits of a word. They return the old number.
	Load(at, size int) uint64
	Swap(at, size int, v uint64) uint64
	CompareAndSwap(at, size int, old, v uint64) uint64
	// Combines reports whether there is such an operation on such numbers. Combine combines the
	// numbers from byte at on with the numbers in in, each atomically, and stores the old numbers
	// in were, which has the length of in or is nil.
	Combines(kernel, elem uint8, size int) bool
	Combine(kernel, elem uint8, at, size int, in, were []byte)
	// Count increments a counter of notifications; false: there is no counter of that number.
	Count(slot uint64) bool
	// Posted and Completed record how often an origin has posted for this process, and how many
	// epochs the origin has completed here.
	Posted(origin int, n uint64)
	Completed(origin int, n uint64)
	// MarkDead stops the effects of all requests of a member, because another member knows that
	// it is dead. It reports false if there is no such member.
	MarkDead(rank uint64) bool
}

// Gate closes the time between the check that an origin lives and the effects of its requests.
type Gate interface {
	// Admit begins the execution of a request of an origin, until Dismiss. It reports false, and
	// there is no Dismiss, if any reader of the memory may know that the origin is dead.
	Admit(origin int) bool
	Dismiss()
}

// Locker is one origin's part in the target's lock: a robustlock.Lock.
type Locker interface {
	Lock(m robustlock.Mode) robustlock.Outcome
	Look() robustlock.Outcome
	Outcome() robustlock.Outcome
	Unlock()
	Withdraw()
	Return()
	Dead() uint64
}

// An Answer is sent back to an origin, under the name in its frame. Its Data are valid until the
// next Step.
type Answer struct {
	To    int
	Reply uint64
	Data  []byte
}

// Granted is the content of the answer to a Lock.
type Granted struct {
	Held bool
	Dead uint64 // not held: the name of the holder that died
}

// GrantedBytes is the length of an answer to a Lock.
const GrantedBytes = 9

// ReadGranted returns the content of the answer to a Lock.
func ReadGranted(b []byte) (g Granted, err error) {
	if len(b) != GrantedBytes || b[0] > 1 {
		return g, fmt.Errorf("answer to a lock: %d bytes", len(b))
	}
	return Granted{Held: b[0] == 1, Dead: binary.LittleEndian.Uint64(b[1:])}, nil
}

func (g Granted) append(b []byte) []byte {
	held := byte(0)
	if g.Held {
		held = 1
	}
	return binary.LittleEndian.AppendUint64(append(b, held), g.Dead)
}

// A Target executes the requests of origins on the memory of one member.
type Target struct {
	memory Memory
	gate   Gate
	lock   func(origin int) Locker
	asked  []asker // the origins that have asked for the lock, in the order of their first request
	out    []byte  // of the answer of the last Step
}

// asker is an origin that has asked for the lock.
type asker struct {
	origin int
	lock   Locker
	reply  uint64 // of the Lock that waits; 0: no Lock waits
}

// New returns the Target of a memory. lock makes an origin's part in the lock.
func New(m Memory, g Gate, lock func(origin int) Locker) *Target {
	return &Target{memory: m, gate: g, lock: lock}
}

// Step executes a frame of an origin that is not known to be dead. With an error the frame had a
// fault, and has had no effect.
func (t *Target) Step(from int, b []byte) ([]Answer, error) {
	f, err := Read(b)
	if err == nil {
		err = t.check(&f)
	}
	if err != nil || !t.gate.Admit(from) {
		return nil, err
	}
	answers := t.execute(from, &f)
	t.gate.Dismiss()
	if f.Op != Unlock && f.Op != Withdraw {
		return answers, nil
	}
	return append(t.Look(), answers...), nil
}

// execute executes a frame. The gate has admitted its origin.
func (t *Target) execute(from int, f *Frame) []Answer {
	switch f.Op {
	case Lock, Unlock, Withdraw:
		return t.stepLock(from, f)
	case Posted:
		t.memory.Posted(from, f.Count)
	case Completed:
		t.memory.Completed(from, f.Count)
	case Dead:
		t.memory.MarkDead(f.At)
	default:
		return t.access(from, f)
	}
	return nil
}

// check returns the fault of a frame for this memory, or nil. The origin has checked the same, so
// a correct origin sends no such frame.
func (t *Target) check(f *Frame) error {
	n := uint64(len(f.Data))
	switch f.Op {
	case Put, Accumulate:
	case Get:
		n = f.Count
	case Load, Swap, CompareAndSwap:
		n = uint64(f.Size)
	default:
		return nil
	}
	have := uint64(t.memory.Bytes())
	switch {
	case f.At > have || n > have-f.At:
		return fmt.Errorf("frame of a window: %v of bytes %d to %d of %d", f.Op, f.At, f.At+n, have)
	case f.hasNumber() && f.At%uint64(f.Size) != 0:
		return fmt.Errorf("frame of a window: %v of a number of %d bytes at byte %d", f.Op, f.Size, f.At)
	case f.Op == Accumulate && !t.memory.Combines(f.Kernel, f.Elem, int(f.Size)):
		return fmt.Errorf("frame of a window: accumulate by operation %d of element %d", f.Kernel, f.Elem)
	}
	return nil
}

// access executes an operation on elements and counters.
func (t *Target) access(from int, f *Frame) []Answer {
	m, at, size := t.memory, int(f.At), int(f.Size)
	var out []byte
	switch f.Op {
	case Put:
		m.Put(at, f.Data)
	case Get:
		t.out = slices.Grow(t.out[:0], int(f.Count))[:f.Count]
		out = t.out
		m.Get(at, out)
	case Load:
		out = word(m.Load(at, size))
	case Swap:
		out = word(m.Swap(at, size, f.Operand))
	case CompareAndSwap:
		out = word(m.CompareAndSwap(at, size, f.Count, f.Operand))
	case Accumulate:
		out = t.accumulate(f)
	case Notify:
		m.Count(f.At)
	case Flush:
	}
	if f.Reply == 0 {
		return nil
	}
	return []Answer{{To: from, Reply: f.Reply, Data: out}}
}

func word(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// accumulate combines numbers, and returns the old ones if the frame wants an answer.
func (t *Target) accumulate(f *Frame) (were []byte) {
	if f.Reply != 0 {
		were = make([]byte, len(f.Data))
	}
	t.memory.Combine(f.Kernel, f.Elem, int(f.At), int(f.Size), f.Data, were)
	return were
}

func (t *Target) stepLock(from int, f *Frame) []Answer {
	a := t.asker(from)
	if f.Op != Lock {
		t.letGo(a, f.Op == Withdraw)
		if f.Reply != 0 {
			return []Answer{{To: from, Reply: f.Reply}}
		}
		return nil
	}
	if a.lock.Outcome() == robustlock.Held || a.lock.Outcome() == robustlock.Waiting {
		return nil // a process has one goroutine at a time that asks: this frame is not from goulfm
	}
	a.reply = f.Reply
	return t.granted(nil, a, a.lock.Lock(robustlock.Mode(f.Mode)))
}

// letGo releases an origin's lock, or ends its wait. unused: the origin gave up before it learned
// that it holds the lock.
func (t *Target) letGo(a *asker, unused bool) {
	switch o := a.lock.Outcome(); {
	case o == robustlock.Held && unused:
		a.lock.Return()
	case o == robustlock.Held:
		a.lock.Unlock()
	case o == robustlock.Waiting:
		a.lock.Withdraw()
	}
	a.reply = 0
}

// granted answers a Lock whose wait is over.
func (t *Target) granted(out []Answer, a *asker, o robustlock.Outcome) []Answer {
	if o == robustlock.Waiting || a.reply == 0 {
		return out
	}
	g := Granted{Held: o == robustlock.Held}
	if o == robustlock.Broken {
		g.Dead = a.lock.Dead()
	}
	out = append(out, Answer{To: a.origin, Reply: a.reply, Data: g.append(nil)})
	a.reply = 0
	return out
}

// asker returns an origin's part in the lock.
func (t *Target) asker(origin int) *asker {
	for i := range t.asked {
		if t.asked[i].origin == origin {
			return &t.asked[i]
		}
	}
	t.asked = append(t.asked, asker{origin: origin, lock: t.lock(origin)})
	return &t.asked[len(t.asked)-1]
}

// Look makes a step for each waiting Lock, because the state in memory may have changed. It makes
// no step for an origin that is known to be dead: the death of a waiter breaks nothing (W12).
func (t *Target) Look() (answers []Answer) {
	for i := range t.asked {
		if a := &t.asked[i]; a.reply != 0 && t.gate.Admit(a.origin) {
			answers = t.granted(answers, a, a.lock.Look())
			t.gate.Dismiss()
		}
	}
	return answers
}

// Waits reports whether an origin waits for the lock: then the host has to call Look repeatedly.
func (t *Target) Waits() bool {
	for i := range t.asked {
		if t.asked[i].reply != 0 {
			return true
		}
	}
	return false
}

// Died forgets an origin that is known to be dead. A lock that it held stays in the words of the
// lock, where all members see that the holder is dead.
func (t *Target) Died(origin int) {
	for i := range t.asked {
		if t.asked[i].origin == origin {
			t.asked = append(t.asked[:i], t.asked[i+1:]...)
			return
		}
	}
}
