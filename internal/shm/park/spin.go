package park

// Spin learns how often a waiting call should poll before it sleeps. A poll costs nothing where
// each rank has a core of its own. A poll is expensive where another process runs beside the ranks.
// The kernel then puts the awaited peer on one core with that process, and leaves this rank alone
// on the other, where this rank spins in vain:
//
//	core 0: this rank spins ............................ sleeps
//	core 1: the other process runs its time slice ......         the peer runs, at last
//
// A wait that had to sleep shows that polling was in vain. From then on calls poll only for a few
// times the length of recent waits that ended by polling. So polling still finds an answer that
// comes soon, and a call whose answer comes late gives the core away. After many waits without a
// sleep Spin tries long waits again.
type Spin struct {
	Most int // polls before sleeping as long as nothing is known

	limit   int // polls now; 0: Most
	took    int // polls of the waits that polling has ended: the longest of late
	without int // waits in a row without a sleep
	sleeps  int
	crowded bool // another process needs the core
}

const (
	spinLeast  = 1024 // 40 to 60 us: a few times the cost of a sleep and a wake-up
	spinFactor = 4    // an answer may take longer than the last ones
	spinDecay  = 64
	spinTrial  = 1 << 14 // waits without a sleep after which long ones are tried

	spinCrowded = 20 // polls of a process that shares its core: the peer cannot run meanwhile
	spinAsk     = 64 // sleeps from one call of shares to the next
)

// Polls returns how often to poll now.
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

// Found notes that the given number of polls has ended a wait.
func (s *Spin) Found(polls int) {
	if s.took = max(s.took-s.took/spinDecay, polls); s.limit == 0 {
		return
	}
	if s.without++; s.without >= spinTrial {
		s.limit, s.without = 0, 0
	}
}

// Slept notes that a wait had to sleep. Shares returns whether another process of the job needs the
// core of this one. Slept calls shares at the first sleep and then now and then.
func (s *Spin) Slept(shares func() bool) {
	s.limit, s.without = min(max(spinLeast, spinFactor*s.took), s.Most), 0
	if s.sleeps%spinAsk == 0 && shares != nil {
		s.crowded = shares()
	}
	s.sleeps++
}
