package match

import "fmt"

// An op is one call on a set of matching rules; the tests' common language.
type op struct {
	verb      verb
	ctx       uint32
	src, tag  int
	id        int // of the receive posted or withdrawn, or of the message that arrives
	size      int // bytes of the message
	members   int
	all       bool
	announced bool
	blocking  bool // fail: the receives reported as pending withdraw (R48)
}

type verb string

const (
	reserve  verb = "reserve"
	open     verb = "open"
	free     verb = "free"
	revoke   verb = "revoke"
	fail     verb = "fail"
	post     verb = "post"
	withdraw verb = "withdraw"
	arrive   verb = "arrive"
	probe    verb = "probe"
	mprobe   verb = "mprobe"
	recall   verb = "recall" // the sender takes its announcement back
)

// An event is one effect of an op. The id is a receive's or message's.
type event struct {
	what what
	id   int
}

type what string

const (
	queuedRecv  what = "queued"
	gotMessage  what = "gets message"
	gotRecv     what = "goes to receive"
	kept        what = "kept"
	refused     what = "refused"
	ended       what = "ended"
	isPending   what = "pending"
	droppedMsg  what = "dropped"
	found       what = "found"
	nothing     what = "nothing"
	withdrawn   what = "withdrawn"
	tooLate     what = "too late"
	notPossible what = "not possible" // the caller must not make this call in this state
)

// real drives a Matcher. It owns taken messages for a while, so that a payload buffer that was
// reused too early is detected.
type real struct {
	m      *Matcher
	recvs  map[int]*Recv
	owned  []*Message
	events []event
}

func newReal() *real { return &real{m: New(), recvs: map[int]*Recv{}} }

func (w *real) emit(k what, id int) { w.events = append(w.events, event{k, id}) }

func (w *real) do(o op) []event {
	w.events = w.events[:0]
	switch o.verb {
	case reserve:
		w.reserve(o)
	case open:
		w.open(o)
	case free:
		w.m.Free(o.ctx, w.ended, w.dropped)
	case revoke:
		w.m.Revoke(o.ctx, w.ended, w.dropped)
	case fail:
		w.fail(o)
	case post:
		w.post(o)
	case withdraw:
		w.withdraw(o)
	case arrive:
		w.arrive(o)
	case probe, mprobe:
		w.probe(o)
	case recall:
		w.recall(o)
	}
	return w.events
}

func (w *real) reserve(o op) {
	if w.m.State(o.ctx) != Absent {
		w.emit(notPossible, 0)
		return
	}
	w.m.Reserve(o.ctx)
}

func (w *real) open(o op) {
	if s := w.m.State(o.ctx); s == Live || s == Freed {
		w.emit(notPossible, 0)
		return
	}
	w.m.Open(o.ctx, o.members, o.all)
}

func (w *real) fail(o op) {
	w.m.Fail(o.ctx, o.src, w.ended, func(r *Recv) {
		w.emit(isPending, int(r.Slot))
		if o.blocking && !w.m.Withdraw(r) {
			panic("a pending receive was not queued")
		}
	}, w.dropped)
}

func (w *real) ended(r *Recv) { w.emit(ended, int(r.Slot)) }

func (w *real) dropped(msg *Message) {
	verify(msg)
	w.emit(droppedMsg, int(msg.Handle))
}

func (w *real) post(o op) {
	if w.m.State(o.ctx) != Live {
		w.emit(notPossible, 0)
		return
	}
	r := &Recv{Ctx: o.ctx, Src: o.src, Tag: o.tag, Slot: uint32(o.id)}
	w.recvs[o.id] = r
	if msg := w.m.Post(r); msg != nil {
		w.emit(gotMessage, int(msg.Handle))
		w.own(msg)
		return
	}
	w.emit(queuedRecv, o.id)
}

func (w *real) withdraw(o op) {
	r := w.recvs[o.id]
	if r == nil {
		w.emit(notPossible, o.id)
		return
	}
	was := r.Queued()
	if w.m.Withdraw(r) != was || r.Queued() {
		panic("Queued and Withdraw disagree")
	}
	if was {
		w.emit(withdrawn, o.id)
	} else {
		w.emit(tooLate, o.id)
	}
}

func (w *real) arrive(o op) {
	r := (*Recv)(nil)
	if o.id%2 == 0 { // the short path may find nothing
		r = w.m.ArriveNamed(o.ctx, o.src, o.tag)
	}
	if r == nil {
		r = w.m.Arrive(o.ctx, o.src, o.tag)
	}
	if r != nil {
		w.emit(gotRecv, int(r.Slot))
		return
	}
	msg := w.m.Message()
	msg.Ctx, msg.Src, msg.Tag, msg.Size, msg.Handle = o.ctx, o.src, o.tag, o.size, uint64(o.id)
	if msg.Announced = o.announced; !o.announced {
		msg.Data = w.m.Buffer(o.size)
		for i := range msg.Data {
			msg.Data[i] = byte(o.id)
		}
	}
	if w.m.Keep(msg) {
		w.emit(kept, o.id)
	} else {
		w.emit(refused, o.id)
	}
}

func (w *real) probe(o op) {
	if w.m.State(o.ctx) != Live {
		w.emit(notPossible, 0)
		return
	}
	msg := w.m.Probe(o.ctx, o.src, o.tag)
	switch {
	case msg == nil:
		w.emit(nothing, 0)
	case o.verb == probe:
		w.emit(found, int(msg.Handle))
	default:
		w.emit(found, int(msg.Handle))
		w.m.Take(msg)
		w.own(msg)
	}
}

func (w *real) recall(o op) {
	msg := w.m.Announced(o.src, uint64(o.id))
	if msg == nil {
		w.emit(nothing, 0)
		return
	}
	w.emit(found, int(msg.Handle))
	w.m.Take(msg)
	w.own(msg)
}

// own keeps up to four taken messages, then recycles the oldest.
func (w *real) own(msg *Message) {
	verify(msg)
	w.owned = append(w.owned, msg)
	if len(w.owned) > 4 {
		verify(w.owned[0])
		w.m.Recycle(w.owned[0])
		w.owned = w.owned[1:]
	}
}

func verify(msg *Message) {
	if msg.Announced != (msg.Data == nil) || !msg.Announced && len(msg.Data) != msg.Size {
		panic(fmt.Sprintf("message %d: announced %v, %d of %d bytes", msg.Handle, msg.Announced, len(msg.Data), msg.Size))
	}
	for _, b := range msg.Data {
		if b != byte(msg.Handle) {
			panic(fmt.Sprintf("payload of message %d overwritten", msg.Handle))
		}
	}
}
