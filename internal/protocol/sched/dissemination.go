package sched

// dissemination is the barrier of Hensgen, Finkel and Manber (1988): in the round of distance d =
// 1, 2, 4, ... each rank sends to the rank d up and receives from the rank d down. The message
// reports that its sender and the ranks before have arrived.
func dissemination(p *Plan, s *Shape) {
	for d := 1; d < s.N; d <<= 1 {
		p.send(s.mod(s.Me+d), in(0), 0, p.memo[:doubled(min(d, s.N-d))]...)
		p.memo = append(p.memo, p.recv(s.mod(s.Me-d), out(0), 0))
	}
}

// doubled returns the number of doubling rounds that collect the messages of k ranks. The receiver
// of the last round lacks only n - d ranks, so its message need not wait for all rounds before.
func doubled(k int) int { return ceilLog2(k) }
