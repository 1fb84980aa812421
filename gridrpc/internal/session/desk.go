package session

// CallID names a call, drawn at random by its client.
type CallID [16]byte

// Verdict is what a server does with a submission.
type Verdict uint8

// The verdicts.
const (
	Run       Verdict = iota + 1 // the body is to run
	Rejoin                       // this attempt is here already: its stream is another one now
	TooOld                       // a later attempt was here (S1)
	TooMany                      // no place, also not in the queue
	Draining                     // the server is about to leave
	NotMe                        // another incarnation was meant
	Forgotten                    // it was accepted here, and nobody asked for it for too long
)

// Desk is the rule of a server: which submissions run.
type Desk struct {
	Incarnation uint64
	Places      int // bodies that run at once and that wait
	calls       map[CallID]uint32
	busy        int
	draining    bool
}

// Submit takes a submission. Run is a place taken, until Leave. Of one that this server is
// said to have accepted before the body has begun: it must not begin another time.
func (d *Desk) Submit(id CallID, attempt uint32, incarnation uint64, accepted bool) Verdict {
	seen, known := d.calls[id]
	switch {
	case incarnation != d.Incarnation:
		return NotMe
	case known && attempt < seen:
		return TooOld
	case known && attempt == seen:
		return Rejoin
	case accepted:
		return Forgotten
	case d.draining:
		return Draining
	case d.busy >= d.Places:
		return TooMany
	}
	if d.calls == nil {
		d.calls = map[CallID]uint32{}
	}
	d.calls[id] = attempt
	d.busy++
	return Run
}

// Leave gives back the place of an attempt whose body has returned. The call is still known,
// so that an older attempt, late on its way, is refused.
func (d *Desk) Leave() { d.busy-- }

// Withdraw undoes a Run whose argument has not arrived: the same attempt may come again.
func (d *Desk) Withdraw(id CallID) {
	d.busy--
	delete(d.calls, id)
}

// Forget ends the memory of a call: its client cannot submit it any more.
func (d *Desk) Forget(id CallID) { delete(d.calls, id) }

// Adopt remembers an attempt that an incarnation before this one has run to its end.
func (d *Desk) Adopt(id CallID, attempt uint32) {
	if d.calls == nil {
		d.calls = map[CallID]uint32{}
	}
	d.calls[id] = max(d.calls[id], attempt)
}

// Drain refuses all new calls from now on.
func (d *Desk) Drain() { d.draining = true }

// Free returns how many calls could still be taken.
func (d *Desk) Free() int { return d.Places - d.busy }
