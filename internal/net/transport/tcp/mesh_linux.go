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
	Generation uint32 // number of earlier processes of that slot
	Peers      []Peer // by slot, including this process
	// Find returns the Peer of a slot that has no address in Peers, once the address is known.
	// Several goroutines call Find.
	Find     func(slot int) (Peer, bool)
	Trust    *socket.Trust
	Listener *net.TCPListener // this process's; the mesh closes it
	Secure   socket.Mode      // of all members; 0: the mode of Trust
	// OnFenced is called when a peer reports that this process was declared dead. OnAnomaly is
	// called when a peer has sent bytes that no correct member sends. Neither may call the mesh.
	OnFenced  func(by int)
	OnAnomaly func(peer int, text string)
	// OnUnmet is called when this process could not connect to a peer for some time; the peer
	// should then dial. OnMet is called when a lane that OnUnmet reported is open or no longer
	// needed. Neither may call the mesh.
	OnUnmet func(Unmet)
	OnMet   func(peer int, class transport.Class)
}

// An Unmet describes a lane whose peer could not be dialed.
type Unmet struct {
	Peer  int
	Class transport.Class
	Addr  string
	Why   string // "refused", "no route", "no answer", or the text of another error
}

// A Peer is a slot of the job.
type Peer struct {
	Addr  string // address of its listener; empty: not known yet (Config.Find)
	Birth uint64 // distinguishes its first process from any other at that address
}

// birthOf returns the number that distinguishes a process of the slot from any other. It depends on
// the number of earlier processes in the slot. The memory of each node holds that number, so no
// message is needed.
func (p Peer) birthOf(generation uint32) uint64 {
	return p.Birth + uint64(generation)*0x9e3779b97f4a7c15 // odd: 2^32 processes have as many births
}

// A Mesh moves frames between one process and the processes of other nodes. One goroutine at a time
// may call its methods, except Pending, Asked and SetWake.
type Mesh struct {
	cfg   Config
	trust *socket.Trust
	poll  *poller
	lanes [2][]*lane // by class, slot; nil: not needed so far
	list  []*lane    // the existing lanes
	start time.Time

	generations func(slot int) uint32 // number of earlier processes of a slot; nil: none

	mu       sync.Mutex
	wake     func() // makes this process poll
	arrivals []arrival
	news     atomic.Bool // there are arrivals, or due is set
	due      atomic.Bool // the timer has fired
	timer    *time.Timer
	armed    mono.Time // when the timer fires; 0: not set

	// The data lanes on which this process has tried to send since its last poll (Take or Peek).
	// The first frame is written at once, if the socket accepts it. Later frames wait, and are
	// written together: by the next poll at the latest, earlier by WriteOut, when gatheredMax bytes
	// wait, or with a notice.
	gathering []*lane
	holds     atomic.Bool // a gathered frame waits: a goroutine must poll before it sleeps

	allClosed bool
	parts     bool         // Part was called
	incoming  session.Conn // the last number of an accepted connection
	unseen    []*lane      // lanes to poll, even if their sockets have nothing to read
	anyUnseen atomic.Bool
}

// New starts listening. A sleeping process waits in the epoll set of Poll.
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

// Poll returns the epoll set of the sockets, and the key for descriptors in that set that are not
// sockets of the mesh.
func (m *Mesh) Poll() (epoll int, others uint64) { return m.poll.fd, othersKey }

// SetWake sets the function that makes this process poll the mesh: for arrivals from the goroutines
// of the mesh, for its timer, for gathered frames, and for lanes that Take must name.
func (m *Mesh) SetWake(wake func()) {
	m.mu.Lock()
	m.wake = wake
	m.mu.Unlock()
}

// SetGenerations sets the function that returns the number of earlier processes of a slot. It must
// precede all sends and receives.
func (m *Mesh) SetGenerations(of func(slot int) uint32) { m.generations = of }

// birth returns the birth of the process in a slot.
func (m *Mesh) birth(slot int) uint64 {
	if m.generations == nil {
		return m.peer(slot).birthOf(0)
	}
	return m.peer(slot).birthOf(m.generations(slot))
}

// peer returns the Peer of a slot.
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
	if l != nil && l.closed && l.birth != m.birth(slot) { // a lane to the slot's earlier process, which no caller uses any more
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

// arm sets the timer, so that the sessions receive the time at a moment.
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

// tell makes this process attend to arrivals and timers.
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

// attend handles arrivals, and gives the sessions the time if the timer has fired.
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

// Take implements Link.
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

// lookAt makes the next Take name the peer of a lane, even if its socket has nothing to read. It
// wakes a goroutine of this process that sleeps in the epoll set, because the caller may be another
// goroutine, and the set reports nothing.
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

// Pending implements Link.
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
		m.rouse() // another goroutine of this process may sleep already, and no other code writes the frame
	}
	return sent
}

// WriteOut writes the gathered frames to a slot.
func (m *Mesh) WriteOut(slot int) {
	if l := m.lanes[transport.Data][slot]; l != nil && l.gathers {
		l.flush()
	}
}

// writeGathered writes all gathered frames.
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

// Peek implements Link. It reads the socket outside of Take, so everything else that it reads must
// take effect, too. If the peer requests an acknowledgement, Peek writes one. If an acknowledgement
// makes room for a refused frame, the next Take names the peer. Otherwise:
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
	if l.awaited > 0 && len(l.assembled) == l.awaited { // the frame of the last call
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

// Part begins the goodbye to all peers. This process sends no further data or control frames. It
// still takes frames of its peers, also over a lane that only the peer has used:
//
//	A: Part, and nothing to B so far        B: a frame to A, the first one
//	A: takes the frame
//
// A parts with that lane, too. Otherwise the goodbye of A would wait until B parts.
func (m *Mesh) Part() {
	m.parts = true
	for _, l := range m.list {
		if !l.closed {
			l.part()
		}
	}
}

// Parted reports whether all goodbyes are complete: the live peers have taken everything that this
// process has sent, and none sends any more over a lane that was in use at Part. A peer may still
// send over other lanes. gone reports whether the process of a slot has departed.
func (m *Mesh) Parted(gone func(slot int) bool) bool {
	for _, l := range m.list {
		if !l.closed && !l.hasClosed && !gone(l.peer) {
			return false
		}
	}
	return true
}

// written reports whether the kernel has all data and control frames that were sent.
func (m *Mesh) written() bool {
	for _, l := range m.list {
		if !l.closed && (l.out.written < l.out.queued || !l.line.flushed()) {
			return false
		}
	}
	return true
}

// Describe returns a line for people about each lane that is not closed.
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
