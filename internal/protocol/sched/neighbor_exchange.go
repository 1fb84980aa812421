package sched

import "github.com/goulfm/goulfm/internal/base/must"

// neighborExchange (Chen et al. 2005) is an Allgather for an even number of ranks that exchanges
// messages with two neighbours only, in n/2 rounds. First the two ranks of a pair swap their
// blocks. Then each rank sends the two blocks of the last round to its two sides in turn. Out must
// be packed.
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

// exchangeSide returns the side of the peer in round i >= 1: for each two ranks that meet, up for
// one and down for the other.
func exchangeSide(rank, i int) int {
	if (rank+i)%2 == 0 {
		return 1
	}
	return -1
}

// exchangePair returns the first block of the pair received in round i. The pair has come one rank
// nearer in each round, always from the same side.
func (s *Shape) exchangePair(i int) int {
	return s.mod(s.Me+i*exchangeSide(s.Me, i)) &^ 1
}
