package sched

import "github.com/goulfm/goulfm/internal/base/must"

// neighborExchange (Chen et al. 2005) is an Allgather for an even number of
// ranks that talks to two neighbours only, in n/2 rounds: first the two of a
// pair swap, then each rank gives to the one and the other side in turn what it
// has just learned, two blocks at a time. Out must be packed.
func neighborExchange(p *Plan, s *Shape) {
	must.That(s.N%2 == 0 || s.N == 1, "an odd number of ranks, %d", s.N)
	mine, elems := s.outBlock(s.Me)
	own := p.copy(mine, in(0), elems)
	if s.N == 1 {
		return
	}
	peer := s.Me ^ 1
	p.send(peer, in(0), elems)
	at, expected := s.outBlock(peer)
	learned := p.recv(peer, at, expected)
	for i := 1; i < s.N/2; i++ {
		peer := s.mod(s.Me + exchangeSide(s.Me, i))
		old, next := s.exchangePair(i-1), s.exchangePair(i)
		at, elems := s.outSpan(old, old+2)
		p.send(peer, at, elems, learned, own)
		at, elems = s.outSpan(next, next+2)
		learned, own = p.recv(peer, at, elems), none
	}
}

// exchangeSide is on which side the peer of round i >= 1 is: of each two that
// meet, one looks up and one down.
func exchangeSide(rank, i int) int {
	if (rank+i)%2 == 0 {
		return 1
	}
	return -1
}

// exchangePair is the first block of the pair learned in round i. It has come
// one rank nearer in each round, always from the same side.
func (s *Shape) exchangePair(i int) int {
	return s.mod(s.Me+i*exchangeSide(s.Me, i)) &^ 1
}
