package tcp

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/session"
)

// Config describes one process's part of the mesh.
type Config struct {
	Job        uint64
	Me         int    // slot
	Generation uint32 // how many processes had that slot before
	Peers      []Peer // by slot, this process among them
	// Find returns the Peer of a slot that has no address among Peers, once it is known. Several
	// goroutines call it.
	Find     func(slot int) (Peer, bool)
	Trust    *socket.Trust
	Listener *net.TCPListener // this process's; the mesh closes it
	Secure   socket.Mode      // of all members; 0: that of Trust
	// OnFenced is called when a peer says that this process was declared dead; OnAnomaly is
	// told what a peer has said that no member says. They must not call the mesh.
	OnFenced  func(by int)
	OnAnomaly func(peer int, text string)
	// OnUnmet is called when this process has not been able to connect to a peer for some time, and
	// asks it to dial; OnMet, when a lane for which that was said is open or of no use any more.
	// They must not call the mesh.
	OnUnmet func(Unmet)
	OnMet   func(peer int, class transport.Class)
}

// Unmet says that a lane to a peer could not be dialed.
type Unmet struct {
	Peer  int
	Class transport.Class
	Addr  string
	Why   string // "refused", "no route", "no answer", or the text of another error
}

// A Peer is a slot of the job.
type Peer struct {
	Addr  string // where its process listens; empty: there is none yet (Config.Find)
	Birth uint64 // tells its first process from any other that ever listens there
}

// birthOf returns what tells a process of the slot from any other: it follows from how many the
// slot had before, which the memory of each node says, so that nobody has to be told.
func (p Peer) birthOf(generation uint32) uint64 {
	return p.Birth + uint64(generation)*0x9e3779b97f4a7c15 // odd: 2^32 processes have as many births
}

// A Mesh moves frames between one process and those of other nodes. Its methods are called by
// one goroutine at a time, but for Pending.
type Mesh struct {
	cfg   Config
	trust *socket.Trust
	poll  *poller
	lanes [2][]*lane // by class, slot; nil: nobody has wanted it
	list  []*lane    // those that are there
	start time.Time

	generations func(slot int) uint32 // how many processes had a slot before; nil: none

	mu       sync.Mutex
	wake     func() // has this process look
	arrivals []arrival
	news     atomic.Bool // there are some, or a time has come
	due      atomic.Bool // a time has come
	timer    *time.Timer
	armed    mono.Time // when the timer fires; 0: it does not

	// To gathering lanes something was sent since this process last looked, and was written: what
	// is sent until it looks again goes with that look, in one write.
	gathering []*lane
	holds     atomic.Bool // something is not written yet: who would sleep looks first

	allClosed bool
	parts     bool         // Part was called
	incoming  session.Conn // the last number of an accepted connection
	unseen    []*lane      // to look at, although their sockets may have nothing to read
	anyUnseen atomic.Bool
}

// New begins to listen. Sleeping processes sleep in the epoll set Poll.
func New(cfg Config) (*Mesh, error) {
	trust := cfg.Trust
	if cfg.Secure != 0 {
		var err error
		if trust, err = cfg.Trust.In(cfg.Secure); err != nil {
			return nil, err
		}
	}
	poll, err := newPoller()
	if err != nil {
		return nil, err
	}
	m := &Mesh{cfg: cfg, trust: trust, poll: poll, start: time.Now()}
	for c := range m.lanes {
		m.lanes[c] = make([]*lane, len(cfg.Peers))
	}
	m.timer = time.AfterFunc(time.Hour, m.timeHasCome)
	m.timer.Stop()
	if cfg.Listener != nil {
		go trust.Serve(cfg.Listener, cfg.Peers[cfg.Me].birthOf(cfg.Generation), m.admit)
	}
	return m, nil
}

// Poll returns the epoll set in which the sockets are, and the number by which what is not a
// socket of the mesh is to be known there.
func (m *Mesh) Poll() (epoll int, others uint64) { return m.poll.fd, othersKey }

// SetWake sets what has this process look at the mesh, when a goroutine of the mesh has something
// for it.
func (m *Mesh) SetWake(wake func()) {
	m.mu.Lock()
	m.wake = wake
	m.mu.Unlock()
}

// SetGenerations says where it is written how many processes had a slot before. It comes before
// anything is sent or taken.
func (m *Mesh) SetGenerations(of func(slot int) uint32) { m.generations = of }

// birth returns that of the process of a slot.
func (m *Mesh) birth(slot int) uint64 {
	if m.generations == nil {
		return m.peer(slot).birthOf(0)
	}
	return m.peer(slot).birthOf(m.generations(slot))
}

// peer returns where a slot is.
func (m *Mesh) peer(slot int) Peer {
	p := m.cfg.Peers[slot]
	if p.Addr == "" && m.cfg.Find != nil {
		p, _ = m.cfg.Find(slot)
	}
	return p
}

func (m *Mesh) now() mono.Time { return mono.Time(time.Since(m.start)) + 1 }

// lane returns the lane of a class towards a slot.
func (m *Mesh) lane(c transport.Class, slot int) *lane {
	l := m.lanes[c][slot]
	if l != nil && l.closed && l.birth != m.birth(slot) { // it led to the process before, and everybody has let go of that
		m.list = slices.DeleteFunc(m.list, func(old *lane) bool { return old == l })
		l = nil
	}
	if l == nil {
		l = newLane(m, slot, c)
		m.lanes[c][slot] = l
		m.list = append(m.list, l)
		if m.allClosed {
			l.close()
		}
		if m.parts {
			l.part()
		}
	}
	return l
}

// arm has the sessions told the time at a moment.
func (m *Mesh) arm(at mono.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.armed == 0 || at < m.armed {
		m.armed = at
		m.timer.Reset(time.Duration(max(at-m.now(), 1)))
	}
}

func (m *Mesh) timeHasCome() {
	m.mu.Lock()
	m.armed = 0
	m.mu.Unlock()
	m.due.Store(true)
	m.tell()
}

// tell has this process look.
func (m *Mesh) tell() {
	m.news.Store(true)
	m.rouse()
}

// rouse wakes a goroutine of this process that sleeps in the epoll set.
func (m *Mesh) rouse() {
	m.mu.Lock()
	wake := m.wake
	m.mu.Unlock()
	if wake != nil {
		wake()
	}
}

// attend takes in connections that were made, and lets time pass.
func (m *Mesh) attend() {
	if !m.news.Load() || !m.news.Swap(false) {
		return
	}
	m.mu.Lock()
	arrivals := m.arrivals
	m.arrivals = nil
	m.mu.Unlock()
	for _, a := range arrivals {
		m.receive(a)
	}
	if m.due.Swap(false) {
		for _, l := range m.list {
			if _, ok := l.s.Deadline(); ok {
				l.step(session.Tick{Now: m.now()})
			}
		}
	}
}

// Take implements Link: see there.
func (m *Mesh) Take(c transport.Class, dst []int) []int {
	m.writeGathered()
	m.attend()
	var events [64]event
	for _, e := range m.poll.ready(events[:]) {
		l, isAttempt := m.laneOf(e.key)
		switch {
		case l == nil:
			continue
		case isAttempt:
			l.readAnswer()
			continue
		}
		if e.writable {
			l.flush()
		}
		if e.readable && l.class == c {
			dst = append(dst, l.peer)
		}
	}
	if m.anyUnseen.Load() {
		dst = m.takeUnseen(c, dst)
	}
	return dst
}

// lookAt makes Take name the peer of a lane once more than its socket does. It wakes a goroutine of
// this process that sleeps in the epoll set, because the caller may be another one, and the set
// reports nothing.
func (m *Mesh) lookAt(l *lane) {
	if !slices.Contains(m.unseen, l) {
		m.unseen = append(m.unseen, l)
	}
	m.anyUnseen.Store(true)
	m.rouse()
}

func (m *Mesh) takeUnseen(c transport.Class, dst []int) []int {
	m.unseen = slices.DeleteFunc(m.unseen, func(l *lane) bool {
		if l.class == c && !slices.Contains(dst, l.peer) {
			dst = append(dst, l.peer)
		}
		return l.class == c
	})
	m.anyUnseen.Store(len(m.unseen) > 0)
	return dst
}

// Pending implements Link: see there.
func (m *Mesh) Pending(except int) bool {
	if m.news.Load() || m.anyUnseen.Load() || m.holds.Load() {
		return true
	}
	var events [4]event // the doorbell and one lane do not count
	for _, e := range m.poll.ready(events[:]) {
		if e.key != othersKey && (except < 0 || e.key != laneKey(except, transport.Data, false)) {
			return true
		}
	}
	return false
}

// TrySend implements Link.
func (m *Mesh) TrySend(to int, h *transport.Header, payload []byte) bool {
	l := m.lane(transport.Data, to)
	if l.isOver() {
		return true
	}
	w := header{body: len(payload), kind: uint8(h.Kind), elem: h.Elem, ctx: h.Ctx, tag: h.Tag}
	if h.Sync {
		w.flags = flagSync
	}
	var numbers [2]uint64
	switch h.Kind {
	case transport.Announce:
		numbers = [2]uint64{uint64(h.Size), h.Handle}
	case transport.Chunk:
		numbers = [2]uint64{h.Handle, uint64(h.Offset)}
	}
	w.body += w.head() - headerBytes
	sent := l.put(w, numbers, payload)
	if !l.gathers {
		l.gathers = true
		m.gathering = append(m.gathering, l)
	} else if l.out.written < l.out.queued && !m.holds.Load() {
		m.holds.Store(true)
		m.rouse() // another goroutine of this process may sleep already, and nobody else writes it
	}
	return sent
}

// WriteOut writes what waits for more to a slot.
func (m *Mesh) WriteOut(slot int) {
	if l := m.lanes[transport.Data][slot]; l != nil && l.gathers {
		l.flush()
	}
}

// writeGathered writes what waits for more, to all.
func (m *Mesh) writeGathered() {
	for _, l := range m.gathering {
		l.gathers = false
		if l.out.written < l.out.queued {
			l.flush()
		}
	}
	m.gathering = m.gathering[:0]
	if m.holds.Load() {
		m.holds.Store(false)
	}
}

// Peek implements Link. It reads the socket outside of Take, so what it reads beside frames must
// not stay without effect. An acknowledgement that makes room for a refused frame has the peer
// named by Take, and one that the peer asks for is written:
//
//	goroutine 1                 goroutine 2
//	TrySend: no room
//	                            Peek: reads the acknowledgement, no frame
//	                            Pending: the socket is dry; sleeps
//	its frame waits for ever
func (m *Mesh) Peek(from int) (f transport.Frame, ok bool) {
	m.writeGathered()
	l := m.lanes[transport.Data][from]
	if l == nil || l.closed {
		return f, false
	}
	for {
		if h, b, whole := l.next(); whole {
			f, err := dataFrame(h, b)
			if err != nil {
				l.broken = err
				l.close()
			}
			return f, err == nil
		}
		if !l.fill() {
			l.sweep()
			return f, false
		}
	}
}

// Advance implements Link.
func (m *Mesh) Advance(from int) {
	if l := m.lanes[transport.Data][from]; l != nil && !l.closed {
		if h, _, ok := l.next(); ok {
			l.take(h.size())
		}
	}
}

// TryControl implements Link.
func (m *Mesh) TryControl(to int, frame []byte, sent int) int {
	l := m.lane(transport.Control, to)
	if l.isOver() {
		return len(frame)
	}
	for sent < len(frame) {
		part := frame[sent:min(len(frame), sent+partMax)]
		if !l.put(header{body: len(part), kind: kindControl, ctx: uint32(len(frame))}, [2]uint64{}, part) {
			break
		}
		sent += len(part)
	}
	return sent
}

// NextControl implements Link.
func (m *Mesh) NextControl(from int) ([]byte, bool) {
	l := m.lanes[transport.Control][from]
	if l == nil || l.closed {
		return nil, false
	}
	if l.isPutBack {
		l.isPutBack = false
		return l.assembled, true
	}
	if l.awaited > 0 && len(l.assembled) == l.awaited { // the one returned last time
		l.assembled, l.awaited = l.assembled[:0], 0
	}
	for {
		h, b, whole := l.next()
		if !whole {
			if !l.fill() {
				l.sweep()
				return nil, false
			}
			continue
		}
		if l.awaited == 0 {
			l.awaited = int(h.ctx)
		}
		if h.kind != kindControl || int(h.ctx) != l.awaited || len(l.assembled)+h.body > l.awaited {
			l.broken = errHeader
			l.close()
			return nil, false
		}
		l.assembled = append(l.assembled, b[headerBytes:]...)
		l.take(h.size())
		if len(l.assembled) == l.awaited {
			return l.assembled, true
		}
	}
}

// WantRoom implements Link.
func (m *Mesh) WantRoom(to int, want bool) {
	for _, lanes := range m.lanes {
		if l := lanes[to]; want && l != nil && !l.closed {
			l.ask()
		}
	}
}

// Sweep implements Link.
func (m *Mesh) Sweep(from int) {
	for _, lanes := range m.lanes {
		if l := lanes[from]; l != nil && !l.closed {
			l.sweep()
		}
	}
}

// CreditReturned implements Link.
func (m *Mesh) CreditReturned(to int) uint64 {
	if l := m.lanes[transport.Data][to]; l != nil {
		return l.creditReturned
	}
	return 0
}

// ReturnCredit implements Link.
func (m *Mesh) ReturnCredit(from int, total uint64) {
	if l := m.lane(transport.Data, from); !l.closed {
		l.returnCredit(total)
	}
}

// CloseControl implements Link.
func (m *Mesh) CloseControl(proc int) { m.lane(transport.Control, proc).close() }

// CloseData implements Link.
func (m *Mesh) CloseData(proc int) { m.lane(transport.Data, proc).close() }

// CloseAll implements Link.
func (m *Mesh) CloseAll() {
	m.allClosed = true
	for _, l := range m.list {
		l.close()
	}
}

// Broken implements Link.
func (m *Mesh) Broken(proc int) error {
	for _, lanes := range m.lanes {
		if l := lanes[proc]; l != nil && l.broken != nil {
			return l.broken
		}
	}
	return nil
}

// Part begins to take leave of all: nothing is sent any more. What a peer still sends is taken,
// also over a lane that only it has wanted:
//
//	A: Part, and nothing to 2 so far        B: a frame to A, the first one
//	A: takes the frame
//
// If A did not take leave of that lane, too, nobody would acknowledge the frame, and both waited.
func (m *Mesh) Part() {
	m.parts = true
	for _, l := range m.list {
		if !l.closed {
			l.part()
		}
	}
}

// Parted says whether all have let go: what this process has sent was taken by those that live,
// and nobody still sends to it. Gone says of a slot that its process has departed.
func (m *Mesh) Parted(gone func(slot int) bool) bool {
	for _, l := range m.list {
		if !l.closed && !l.hasClosed && !gone(l.peer) {
			return false
		}
	}
	return true
}

// written says whether all that was sent is in the hands of the kernel.
func (m *Mesh) written() bool {
	for _, l := range m.list {
		if !l.closed && (l.out.written < l.out.queued || !l.line.flushed()) {
			return false
		}
	}
	return true
}

// Describe says for people which lanes have something under way, a line each.
func (m *Mesh) Describe() (lines []string) {
	for _, l := range m.list {
		if !l.closed {
			lines = append(lines, l.describe())
		}
	}
	return lines
}

func (m *Mesh) anomaly(peer int, text string) {
	if m.cfg.OnAnomaly != nil {
		m.cfg.OnAnomaly(peer, text)
	}
}
