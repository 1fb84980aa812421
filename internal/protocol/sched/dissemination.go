package sched

// dissemination is the barrier of Hensgen, Finkel and Manber (1988): in the round
// of distance d = 1, 2, 4, ... each rank tells the one d up, and hears from the
// one d down, that it and those before it are here.
func dissemination(p *Plan, s *Shape) {
	for d := 1; d < s.N; d <<= 1 {
		p.send(s.mod(s.Me+d), in(0), 0, p.memo[:doubled(min(d, s.N-d))]...)
		p.memo = append(p.memo, p.recv(s.mod(s.Me-d), out(0), 0))
	}
}

// doubled is how many rounds of doubling bring what k ranks have. The receiver of
// the last round lacks only n - d ranks, so its message need not wait for all the
// rounds before.
func doubled(k int) int { return ceilLog2(k) }
