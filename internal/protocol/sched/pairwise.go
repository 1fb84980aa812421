package sched

// pairwiseAlltoall is the linear exchange in n-1 rounds: in round t a rank sends to the rank t up
// and receives from the rank t down. A round waits for the round before, not for the result but to
// limit each rank to one message in and one out, for long blocks.
func pairwiseAlltoall(p *Plan, s *Shape) {
	sent, came := none, none
	for t := 1; t < s.N; t++ {
		from, elems := s.inBlock(s.mod(s.Me + t))
		to, expected := s.outBlock(s.mod(s.Me - t))
		sent, came = p.send(s.mod(s.Me+t), from, elems, sent, came),
			p.recv(s.mod(s.Me-t), to, expected, sent, came)
	}
	p.copyOwn(s)
}

// pairwiseReduceScatter sends every block to its owner, in the same rounds. Commutative only: an
// owner combines in the order of the rounds.
func pairwiseReduceScatter(p *Plan, s *Shape) {
	have, mine := s.inBlock(s.Me)
	if s.N == 1 {
		p.copy(out(0), have, mine)
		return
	}
	slots := p.slots(min(s.N-1, 2), mine)
	sent, came, last, older := none, none, none, none
	for t := 1; t < s.N; t++ {
		from, elems := s.inBlock(s.mod(s.Me + t))
		slot := slots[(t-1)%2]
		sent, came = p.send(s.mod(s.Me+t), from, elems, sent, came),
			p.recv(s.mod(s.Me-t), slot, mine, sent, came, older)
		older, last = last, p.reduce(out(0), slot, have, mine, came, last)
		have = out(0)
	}
}
