package rendezvous

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/protocol/match"
)

// A world is some processes that send each other long messages, hosted as the engine hosts them.
// There are two lanes between each pair in each direction, which are emptied one frame at a time in
// any order, and one communicator. The buffers of the programs are marked: each byte of a message
// is its letter, and a program that has its buffer back writes dots into it.
type world struct {
	procs []*proc
	lanes map[[3]int][]frame // by sender, receiver, lane
	log   []string           // the effects of the last command
	wrong []string           // promises that are broken
	quiet bool               // no log is needed
}

const (
	onData = iota
	onControl
	ctx       = 7
	chunkSize = 1
)

// frame is one frame under way.
type frame struct {
	control []byte
	what    string // announce, chunk
	send    uint64 // announce: the send; chunk: the receive
	tag     int
	size    int
	offset  int
	data    string // chunk
}

type proc struct {
	w       *world
	me      int
	dead    bool
	revoked bool
	freed   bool
	knows   map[int]bool // deaths
	match   *match.Matcher
	peers   []Peer
	ends    []*end // by handle; from 1
}

// end is a request: a send or a receive.
type end struct {
	name   string
	handle uint64
	proc   int // of the other side
	send   *Send
	recv   *Recv
	posted match.Recv
	buf    []byte
	tag    int
	result string // "" as long as the buffer is the library's
}

func newWorld(n int) *world {
	w := &world{lanes: map[[3]int][]frame{}}
	for i := range n {
		p := &proc{w: w, me: i, knows: map[int]bool{}, match: match.New(), peers: make([]Peer, n), ends: []*end{nil}}
		p.match.Reserve(ctx)
		p.match.Open(ctx, n, false)
		w.procs = append(w.procs, p)
	}
	return w
}

func (w *world) say(format string, args ...any) {
	if !w.quiet {
		w.log = append(w.log, fmt.Sprintf(format, args...))
	}
}

func (w *world) breaks(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

func (w *world) put(from, to, lane int, f frame) {
	if !w.procs[from].dead {
		key := [3]int{from, to, lane}
		w.lanes[key] = append(w.lanes[key], f)
	}
}

func (p *proc) control(to int, b []byte) {
	if p.knows[to] {
		return
	}
	if !p.w.quiet {
		p.w.say("%d>%d %s", p.me, to, show(b))
	}
	p.w.put(p.me, to, onControl, frame{control: b})
}

// show returns a control frame in words.
func show(b []byte) string {
	switch b[0] {
	case KindGrant:
		g, _ := ReadGrant(b)
		return fmt.Sprintf("grant send %d, %d bytes for receive %d", g.Send, g.Limit, g.Recv)
	case KindWithdraw:
		v, _ := ReadWithdraw(b)
		return fmt.Sprintf("withdraw send %d, announcement %d", v.Send, v.Number)
	case KindWithdrawn:
		v, _ := ReadWithdrawn(b)
		return fmt.Sprintf("withdrawn send %d", v.Send)
	case KindRefuse:
		v, _ := ReadRefuse(b)
		return fmt.Sprintf("refuse send %d", v.Send)
	}
	v, _ := ReadGone(b)
	return fmt.Sprintf("gone, receive %d", v.Recv)
}

func (p *proc) newEnd(name string, other int, buf []byte) *end {
	e := &end{name: name, handle: uint64(len(p.ends)), proc: other, buf: buf}
	p.ends = append(p.ends, e)
	return e
}

// sendOf and recvOf return the end of a handle, also of one that is over.
func (p *proc) sendOf(h uint64) *end {
	e := p.ends[h]
	if e.send == nil {
		p.w.breaks("%d: a frame for a send names %s", p.me, e.name)
	}
	return e
}

func (p *proc) recvOf(h uint64) *end {
	e := p.ends[h]
	if e.recv == nil {
		p.w.breaks("%d: a frame for a receive names %s", p.me, e.name)
	}
	return e
}

// isend begins a send; publish sends its announcement.
func (p *proc) isend(name string, to, tag, size int) {
	e := p.newEnd(name, to, []byte(strings.Repeat(name[:1], size)))
	e.send, e.tag = &Send{}, tag
	e.send.Begin(to)
	switch {
	case p.revoked:
		p.give(e, "revoked")
	case p.knows[to]:
		p.give(e, "died")
	}
}

// publish finds room for the announcement of a send.
func (p *proc) publish(e *end) {
	p.w.put(p.me, e.proc, onData, frame{what: "announce", send: e.handle, tag: e.tag, size: len(e.buf)})
	e.send.Announced(p.peers[e.proc].Count())
}

// push finds room for one more chunk of a send that was granted.
func (p *proc) push(e *end) {
	if recv, offset, n := e.send.Chunk(chunkSize); n > 0 {
		p.w.put(p.me, e.proc, onData, frame{what: "chunk", send: recv, offset: offset, size: n, data: string(e.buf[offset : offset+n])})
		e.send.Pushed(n)
	}
	if _, _, n := e.send.Chunk(chunkSize); n == 0 {
		p.give(e, "sent")
	}
}

func (p *proc) irecv(name string, from, tag, room int) {
	e := p.newEnd(name, from, []byte(strings.Repeat("-", room)))
	e.recv = &Recv{}
	if p.revoked || p.freed {
		p.give(e, "revoked")
		return
	}
	e.posted = match.Recv{Ctx: ctx, Src: from, Tag: tag, Slot: uint32(e.handle)}
	if m := p.match.Post(&e.posted); m != nil {
		p.matched(e, m.Src, m.Handle, m.Size)
		p.match.Recycle(m)
		return
	}
	if p.knows[from] {
		p.match.Withdraw(&e.posted)
		p.give(e, "died")
	}
}

func (p *proc) matched(e *end, from int, send uint64, size int) {
	e.recv.Match(from, send, size, len(e.buf))
	if p.knows[from] {
		p.give(e, "died")
		return
	}
	p.control(from, e.recv.Grant(e.handle).Append(nil))
	if e.recv.Limit() == 0 {
		p.give(e, "received")
	}
}

// give returns a buffer to the program, which uses it for something else.
func (p *proc) give(e *end, result string) {
	if e.result != "" {
		p.w.breaks("%d: the buffer of %s is given back twice: %s, %s", p.me, e.name, e.result, result)
		return
	}
	if e.recv != nil && e.recv.HasMatched() {
		e.recv.End()
	}
	if e.send != nil {
		if gone, tell := e.send.End(); tell {
			p.control(e.proc, gone.Append(nil))
		}
	}
	e.result = result
	p.w.say("%d: %s is over: %s %s", p.me, e.name, result, e.buf)
	if result == "received" {
		for _, c := range e.buf {
			if c == '.' || c == '-' && e.recv.Limit() == len(e.buf) || c != e.buf[0] {
				p.w.breaks("%d: %s received %s", p.me, e.name, e.buf)
			}
		}
		return // the program reads the buffer
	}
	for i := range e.buf {
		e.buf[i] = '.'
	}
}

// cancel requests the buffer of a send, or of a receive, back.
func (p *proc) cancel(e *end) {
	if e.recv != nil {
		if p.match.Withdraw(&e.posted) {
			p.give(e, "cancelled")
		}
		return
	}
	switch e.send.TakeBack() {
	case AtOnce:
		p.give(e, "cancelled")
	case Ask:
		p.control(e.proc, e.send.Withdraw(e.handle).Append(nil))
	}
}

// deliver passes the next frame of a lane to its receiver.
func (w *world) deliver(from, to, lane int) {
	key := [3]int{from, to, lane}
	f := w.lanes[key][0]
	w.lanes[key] = w.lanes[key][1:]
	p := w.procs[to]
	switch {
	case p.dead || p.knows[from]:
	case f.control != nil:
		if err := Hear(p, from, f.control); err != nil {
			p.w.breaks("%d: %v", p.me, err)
		}
	case f.what == "announce":
		p.announced(from, f)
	default:
		p.chunk(from, f)
	}
}

func (p *proc) announced(from int, f frame) {
	switch {
	case p.peers[from].Hear(f.send):
		p.control(from, Withdrawn{Send: f.send}.Append(nil))
		return
	case !p.match.Accepts(ctx):
		p.control(from, Refuse{Send: f.send}.Append(nil))
		return
	}
	if r := p.match.Arrive(ctx, from, f.tag); r != nil {
		p.matched(p.ends[r.Slot], from, f.send, f.size)
		return
	}
	m := p.match.Message()
	m.Ctx, m.Src, m.Tag, m.Size, m.Announced, m.Handle = ctx, from, f.tag, f.size, true, f.send
	p.match.Keep(m)
}

func (p *proc) chunk(from int, f frame) {
	e := p.recvOf(f.send)
	if !e.recv.Lands(from, f.offset, f.size) {
		p.w.say("%d: a chunk of %d is dropped", p.me, from)
		return
	}
	if e.result != "" {
		p.w.breaks("%d: a chunk lands in %s, which is over", p.me, e.name)
	}
	copy(e.buf[f.offset:], f.data)
	if e.recv.Landed(f.size) {
		p.give(e, "received")
	}
}

// Granted is a method of Host.
func (p *proc) Granted(from int, g Grant) {
	if e := p.sendOf(g.Send); !e.send.Grant(from, g, len(e.buf)) {
		p.control(from, Gone{Recv: g.Recv}.Append(nil))
	} else if e.result != "" {
		p.w.breaks("%d: %s is over and is granted", p.me, e.name)
	} else if g.Limit == 0 {
		p.push(e)
	}
}

// AskedBack is a method of Host.
func (p *proc) AskedBack(from int, w Withdraw) {
	if p.peers[from].TakeBack(p.match, from, w) {
		p.control(from, Withdrawn{Send: w.Send}.Append(nil))
	}
}

// Withdrawn is a method of Host.
func (p *proc) Withdrawn(from int, w Withdrawn) {
	if e := p.sendOf(w.Send); e.send.Withdrawn(from) {
		p.give(e, "cancelled")
	}
}

// Refused is a method of Host.
func (p *proc) Refused(from int, r Refuse) {
	if e := p.sendOf(r.Send); e.send.Refused(from) {
		p.give(e, "revoked")
	}
}

// Gone is a method of Host.
func (p *proc) Gone(from int, g Gone) {
	if e := p.recvOf(g.Recv); e.recv.IsGone(from) {
		p.give(e, "revoked")
	}
}

// revoke is the revocation of the communicator at one process.
func (p *proc) revoke() {
	p.revoked = true
	p.match.Revoke(ctx, func(r *match.Recv) { p.give(p.ends[r.Slot], "revoked") }, func(m *match.Message) {
		p.control(m.Src, Refuse{Send: m.Handle}.Append(nil))
	})
	p.endAll("revoked", func(*end) bool { return true })
}

// free ends the posted receives of a process and refuses the messages that wait, without a
// revocation. Receives that have matched, and sends, continue.
func (p *proc) free() {
	p.freed = true
	p.match.Revoke(ctx, func(r *match.Recv) { p.give(p.ends[r.Slot], "freed") }, func(m *match.Message) {
		p.control(m.Src, Refuse{Send: m.Handle}.Append(nil))
	})
}

func (p *proc) endAll(result string, which func(*end) bool) {
	for _, e := range p.ends[1:] {
		if e.result == "" && which(e) {
			p.give(e, result)
		}
	}
}

// die ends a process. On each lane its first kept frames still arrive; the later ones are lost.
func (w *world) die(proc, kept int) {
	w.procs[proc].dead = true
	for key, frames := range w.lanes {
		if key[0] == proc {
			w.lanes[key] = frames[:min(kept, len(frames))]
		}
	}
}

// learn is the notice of a death, after all frames that have arrived from the dead.
func (p *proc) learn(dead int) {
	p.knows[dead] = true
	p.match.Fail(ctx, dead, func(r *match.Recv) { p.give(p.ends[r.Slot], "died") }, nil, nil)
	p.endAll("died", func(e *end) bool { return e.proc == dead && (e.send != nil || e.recv.HasMatched()) })
}

// state returns the complete state of a world, in words.
func (w *world) state() string {
	var b strings.Builder
	for _, p := range w.procs {
		fmt.Fprintf(&b, "%v %v %v %v %v|", p.dead, p.revoked, p.freed, p.knows, p.peers)
		for _, e := range p.ends[1:] {
			if e.send != nil {
				fmt.Fprintf(&b, "%v", *e.send)
			} else {
				fmt.Fprintf(&b, "%v", *e.recv)
			}
			fmt.Fprintf(&b, "%s%s%v,", e.buf, e.result, e.posted.Queued())
		}
		p.match.EachUnexpected(ctx, func(m *match.Message) { fmt.Fprintf(&b, "+%d.%d", m.Src, m.Handle) })
		for to := range w.procs {
			for lane := range 2 {
				for _, f := range w.lanes[[3]int{p.me, to, lane}] {
					fmt.Fprintf(&b, "/%d%d%x%s%d%d%s", to, lane, f.control, f.what, f.send, f.offset, f.data)
				}
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// stuck returns the ends that are not over and never will be: no frame is under way any more.
func (w *world) stuck() (found []string) {
	for _, p := range w.procs {
		for _, e := range p.ends[1:] {
			other := w.procs[e.proc]
			waits := e.send != nil && e.send.Waits() && !e.send.wasAsked() && other.has(p.me, e.handle) || e.recv != nil && e.posted.Queued()
			if !p.dead && e.result == "" && (!waits || other.dead || other.revoked || p.revoked || e.send != nil && other.freed) {
				found = append(found, fmt.Sprintf("%d: %s waits for ever", p.me, e.name))
			}
		}
	}
	return found
}

func (s *Send) wasAsked() bool { return s.stage == asked }

// has reports whether a message waits among the unexpected ones.
func (p *proc) has(from int, send uint64) bool {
	return p.match.Announced(from, send) != nil
}

// named returns the end of a name.
func (p *proc) named(name string) *end {
	i := slices.IndexFunc(p.ends[1:], func(e *end) bool { return e.name == name })
	return p.ends[1+i]
}
