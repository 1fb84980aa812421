package sched

// The linear algorithms send every block directly from its source to its destination, all at once.
// A rank uses no blocks except its own, so these algorithms serve all layouts.

func linearGather(p *Plan, s *Shape) {
	if s.Me != s.Root {
		p.send(s.Root, in(0), s.Count)
		return
	}
	for t := 1; t < s.N; t++ {
		from := s.mod(s.Me + t)
		at, elems := s.outBlock(from)
		p.recv(from, at, elems)
	}
	mine, elems := s.outBlock(s.Me)
	p.copy(mine, in(0), elems)
}

func linearScatter(p *Plan, s *Shape) {
	if s.Me != s.Root {
		p.recv(s.Root, out(0), s.Count)
		return
	}
	for t := 1; t < s.N; t++ {
		to := s.mod(s.Me + t)
		at, elems := s.inBlock(to)
		p.send(to, at, elems)
	}
	mine, elems := s.inBlock(s.Me)
	p.copy(out(0), mine, elems)
}

// linearAllgather sends from Input, so that no message waits for the copy of the own block.
func linearAllgather(p *Plan, s *Shape) {
	for t := 1; t < s.N; t++ {
		from := s.mod(s.Me - t)
		at, elems := s.outBlock(from)
		p.recv(from, at, elems)
	}
	mine, elems := s.outBlock(s.Me)
	for t := 1; t < s.N; t++ { // not all to rank 0 first
		p.send(s.mod(s.Me+t), in(0), elems)
	}
	p.copy(mine, in(0), elems)
}

func linearAlltoall(p *Plan, s *Shape) {
	for t := 1; t < s.N; t++ {
		from := s.mod(s.Me - t)
		at, elems := s.outBlock(from)
		p.recv(from, at, elems)
	}
	for t := 1; t < s.N; t++ { // not all to rank 0 first
		to := s.mod(s.Me + t)
		at, elems := s.inBlock(to)
		p.send(to, at, elems)
	}
	p.copyOwn(s)
}

// copyOwn copies the block from a rank to itself in an Alltoall.
func (p *Plan) copyOwn(s *Shape) {
	from, elems := s.inBlock(s.Me)
	to, _ := s.outBlock(s.Me)
	p.copy(to, from, elems)
}

// linearReduceScatter sends every block to its owner. The owner keeps all blocks and combines them
// in rank order as they arrive.
func linearReduceScatter(p *Plan, s *Shape) {
	own, mine := s.inBlock(s.Me)
	if s.N == 1 {
		p.copy(out(0), own, mine)
		return
	}
	tmp := p.alloc((s.N - 1) * mine)
	for from := range s.N {
		if from == s.Me {
			p.memo = append(p.memo, none)
			continue
		}
		p.memo = append(p.memo, p.recv(from, tmp, mine))
		tmp = tmp.plus(mine)
	}
	for t := 1; t < s.N; t++ {
		at, elems := s.inBlock(s.mod(s.Me + t))
		p.send(s.mod(s.Me+t), at, elems)
	}
	place := func(r int) Ref {
		if r == s.Me {
			return own
		}
		return p.Steps[p.memo[r]].Dst
	}
	have, last := place(0), p.memo[0]
	for r := 1; r < s.N; r++ {
		last = p.reduce(out(0), have, place(r), mine, p.memo[r], last)
		have = out(0)
	}
}
