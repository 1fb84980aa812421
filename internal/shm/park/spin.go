package park

// Spin says how often a waiting call polls before it sleeps, and learns it. A poll costs
// nobody anything where each rank has a core of its own. Where another process runs beside
// the ranks it does: the kernel puts the peer that is waited for on one core with that
// process, and leaves this rank alone on the other, where it spins in vain:
//
//	core 0: this rank spins ............................ sleeps
//	core 1: the other process runs its time slice ......         the peer runs, at last
//
// A wait that had to sleep says that polling was in vain. Then calls poll only for some
// times as long as waits that polling has ended have taken lately: what comes soon is still
// found by polling, and what does not come soon gives the core away. After many waits
// without a sleep long ones are tried again.
type Spin struct {
	Most int // polls before sleeping as long as nothing is known

	limit   int // polls now; 0: Most
	took    int // polls of the waits that polling has ended: the longest of late
	without int // waits in a row without a sleep
	sleeps  int
	crowded bool // somebody else needs the core
}

const (
	spinLeast  = 1024 // 40 to 60 us: some times what a sleep and a wake-up cost
	spinFactor = 4    // what is waited for may take longer than it has lately
	spinDecay  = 64
	spinTrial  = 1 << 14 // waits without a sleep after which long ones are tried

	spinCrowded = 20 // polls of a process that shares its core: the peer cannot run meanwhile
	spinAsk     = 64 // sleeps from one question to the next
)

// Polls is how often to poll now.
func (s *Spin) Polls() int {
	polls := s.Most
	if s.limit > 0 {
		polls = s.limit
	}
	if s.crowded {
		polls = min(polls, spinCrowded)
	}
	return polls
}

// Found notes that polling has ended a wait, after so many polls.
func (s *Spin) Found(polls int) {
	if s.took = max(s.took-s.took/spinDecay, polls); s.limit == 0 {
		return
	}
	if s.without++; s.without >= spinTrial {
		s.limit, s.without = 0, 0
	}
}

// Slept notes that a wait had to sleep. Shares says whether another process of the job needs the
// core of this one; it is asked at the first sleep and then now and then.
func (s *Spin) Slept(shares func() bool) {
	s.limit, s.without = min(max(spinLeast, spinFactor*s.took), s.Most), 0
	if s.sleeps%spinAsk == 0 && shares != nil {
		s.crowded = shares()
	}
	s.sleeps++
}
