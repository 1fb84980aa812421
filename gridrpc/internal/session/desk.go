package session

// CallID names a call, drawn at random by its client.
type CallID [16]byte

// Verdict is the decision of a server on a submission.
type Verdict uint8

// The verdicts.
const (
	Run       Verdict = iota + 1 // the server runs the body
	Rejoin                       // the attempt is here already, and has a new stream now
	TooOld                       // a later attempt was here (S1)
	TooMany                      // no place, also not in the queue
	Draining                     // the server is about to leave
	NotMe                        // the submission names another incarnation
	Forgotten                    // accepted here, and then forgotten after a long time without a client
)

// Desk is the rule of a server: it decides which submissions run.
type Desk struct {
	Incarnation uint64
	Places      int // bodies that run at once and that wait
	calls       map[CallID]uint32
	busy        int
	draining    bool
}

// Submit decides on a submission. Run takes a place until Leave. If the client reports that this
// server had accepted the attempt, its body has begun and must not begin again.
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

// Leave frees the place of an attempt after its body has returned. The call stays known, so that a
// late older attempt is refused.
func (d *Desk) Leave() { d.busy-- }

// Withdraw undoes a Run if the argument has not arrived: the same attempt may be submitted again.
func (d *Desk) Withdraw(id CallID) {
	d.busy--
	delete(d.calls, id)
}

// Forget removes a call, after which its client cannot submit it any more.
func (d *Desk) Forget(id CallID) { delete(d.calls, id) }

// Adopt records an attempt that an earlier incarnation has completed.
func (d *Desk) Adopt(id CallID, attempt uint32) {
	if d.calls == nil {
		d.calls = map[CallID]uint32{}
	}
	d.calls[id] = max(d.calls[id], attempt)
}

// Drain refuses all new calls from now on.
func (d *Desk) Drain() { d.draining = true }

// Free returns the number of calls that the server can still accept.
func (d *Desk) Free() int { return d.Places - d.busy }
