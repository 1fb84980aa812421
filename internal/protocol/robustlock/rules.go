package robustlock

// step makes one access to memory, and reports whether the process has to wait, or has nothing to
// do.
func (l *Lock) step() (waits bool) {
	switch l.phase {
	case idle, holding, sharing:
		return true
	case snatch, claim, hint, look, yield, absence, grab, unclaim, scan:
		return l.stepExclusive()
	case enter, check, retreat, hintRead, watch, absenceRd, putBack:
		return l.stepShared()
	}
	l.stepOut()
	return false
}

// stepExclusive makes one access on the way to an exclusive hold.
//
//	W     meaning                        action with S = Claiming and N set
//	0     free                           swap 0 for me
//	F     free, waiting readers first    none waits: swap F for me; else wait
//	h     held                           wait; h is dead: broken, or in mode Mend swap h for me
//	h+H   handed to h                    h is me: swap h+H for me
//	                                     h is dead, or does not wait: the same; else wait
//
// The receiver of a lock must take the lock by a swap, not by a store:
//
//	0 is handed the lock, gives up, and 1 sees that 0 does not wait. 0 asks again, and sees
//	0+H. If 0 stored 0, and 1 swapped 0+H for 1 just before: two holders.
func (l *Lock) stepExclusive() (waits bool) {
	m := l.memory
	switch l.phase {
	case snatch:
		l.phase = claim
		if m.Swap(free, l.name) {
			l.beginScan()
		}
	case claim:
		m.SetClaim(Claiming)
		l.phase = hint
	case hint:
		m.SetHint(true)
		l.phase = look
	case look:
		return l.chooseExclusive(m.Word())
	case yield:
		return l.deferToReader()
	case absence:
		l.phase = look
		if o, _ := l.members.Origin(l.seen &^ handed); m.Claim(o) != Claiming {
			l.phase = grab
			return false
		}
		return true
	case grab:
		l.grab()
	case unclaim:
		m.SetClaim(Absent)
		l.beginScan()
	case scan:
		return l.scanReader()
	}
	return false
}

// chooseExclusive implements the table above.
func (l *Lock) chooseExclusive(w uint64) (waits bool) {
	l.seen = w
	h := w &^ handed
	switch {
	case w == free:
		l.phase = grab
	case w == first:
		l.phase, l.cursor = yield, 0
	case w == l.name|handed:
		l.phase = grab
	case w&handed != 0:
		l.phase = absence
		if l.isDead(h) {
			l.phase = grab
		}
	case !l.isDead(h):
		return true
	case l.mode == Mend:
		l.phase = grab
	default:
		l.phase, l.dead = abandon, h
	}
	return false
}

// wait stays in a phase.
func (l *Lock) wait(in phase) bool {
	l.phase = in
	return true
}

// deferToReader checks whether one reader waits while W is F. A writer that took the lock in front
// of waiting readers would let readers starve.
func (l *Lock) deferToReader() (waits bool) {
	o := l.cursor
	if o == l.members.Len() {
		l.phase = grab
		return false
	}
	l.cursor++
	if l.memory.Claim(o) == Reading && !l.members.Dead(o) {
		return l.wait(look)
	}
	return false
}

// grab takes the lock, unless W has changed.
func (l *Lock) grab() {
	l.phase = look
	if !l.memory.Swap(l.seen, l.name) {
		return
	}
	l.phase = unclaim
	if l.seen != free && l.seen&(first|handed) == 0 {
		l.broken = l.seen
	}
}

func (l *Lock) beginScan() {
	l.phase, l.cursor = scan, 0
}

// scanReader waits until one reader has left, or is dead. W is this process's name: a reader that
// comes now sees the name and retreats. So the writer waits for each reader only once.
func (l *Lock) scanReader() (waits bool) {
	if l.cursor == l.members.Len() {
		l.phase = holding
		return true
	}
	o := l.cursor
	if l.memory.Claim(o) == Sharing && !l.members.Dead(o) {
		return true
	}
	l.cursor++
	return false
}

// stepShared makes one access on the way to a share.
//
//	W       action with S = Sharing             with S = Reading and N set
//	0, F    in                                  S = Sharing, and look again
//	h       S = Reading                         wait; h is dead: broken
//	h+H     h is dead, or does not wait: swap h+H for 0, and look again; else as for h
//
// Writer and reader both publish their request first, and load the other's word then:
//
//	reader   S = Sharing   fence   look at W
//	writer   swap W for me         look at S
//
// So at least one of them sees the other, in any order.
func (l *Lock) stepShared() (waits bool) {
	m := l.memory
	switch l.phase {
	case enter:
		l.phase = check
		m.SetClaimFenced(Sharing)
	case check:
		return l.chooseShared(m.Word(), sharing, retreat)
	case retreat:
		m.SetClaim(Reading)
		l.phase = hintRead
	case hintRead:
		m.SetHint(true)
		l.phase = watch
	case watch:
		return l.chooseShared(m.Word(), enter, watch)
	case absenceRd:
		o, _ := l.members.Origin(l.seen &^ handed)
		if m.Claim(o) != Claiming {
			l.phase = putBack
			return false
		}
		return l.heldOn(l.back)
	case putBack:
		m.Swap(l.seen, free) // a failed swap means that W has changed, which is as good
		l.phase = check
		if l.back == watch {
			l.phase = watch
		}
	}
	return false
}

// chooseShared implements the table above: in is the phase after a free lock, back the phase after
// a held one.
func (l *Lock) chooseShared(w uint64, in, back phase) (waits bool) {
	l.seen, l.back = w, back
	switch dead := l.isDead(w &^ handed); {
	case w == free || w == first:
		l.phase = in
	case w&handed == 0 && dead:
		l.phase, l.dead = abandon, w
	case w&handed == 0:
		return l.heldOn(back)
	case !dead:
		l.phase = absenceRd
	default:
		l.phase = putBack
	}
	return false
}

// heldOn returns from a lock that is held: the first time to publish that this process waits, later
// to poll again.
func (l *Lock) heldOn(back phase) (waits bool) {
	l.phase = back
	return back == watch
}

// stepOut makes one access on the way out of a hold or a wait.
//
// The releaser of an exclusive hold hands the lock on if a process waits: to the readers first,
// then to the next writer in the circle. Without a hint the releaser saves the walk over all
// origins. A hint that is still in another processor's store buffer, or was cleared just after it
// was set, costs the waiter its place in the order, and not the lock: waiters poll W.
//
//	releaser   N = 0   S[1]: nothing            W = 0
//	waiter 1                   S = Claiming, N = 1     W is 0: swap
func (l *Lock) stepOut() {
	m := l.memory
	switch l.phase {
	case leave, withdrew, abandon:
		m.SetClaim(Absent)
		l.end()
	case askHint:
		l.phase, l.next = release, free
		if m.Hint() {
			l.phase = clearHint
		}
	case clearHint:
		m.SetHint(false)
		l.phase, l.cursor = survey, 1
	case survey:
		l.survey()
	case setHint:
		m.SetHint(true)
		l.phase = release
	case release:
		m.Release(l.next)
		l.end()
	}
}

// survey loads the claim of one origin, in the circle that begins behind this process. A waiting
// reader decides; of the waiting writers the first does. The claims of the dead are ignored.
func (l *Lock) survey() {
	n := l.members.Len()
	if l.cursor == n {
		l.phase = release
		if l.next != free {
			l.phase = setHint
		}
		return
	}
	o := (l.me + l.cursor) % n
	l.cursor++
	switch c := l.memory.Claim(o); {
	case c <= Sharing || l.members.Dead(o):
	case c == Reading:
		l.next, l.phase = first, setHint
	case l.next == free:
		l.next = l.members.Name(o) | handed
	}
}

func (l *Lock) end() {
	l.phase, l.mode, l.cursor, l.seen, l.next, l.back, l.broken = idle, None, 0, 0, 0, idle, 0
}

// isDead reports whether the process with a name is known to be dead, or is no longer a member.
func (l *Lock) isDead(name uint64) bool {
	o, ok := l.members.Origin(name)
	return !ok || l.members.Dead(o)
}
