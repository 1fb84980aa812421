package edits

// longBugs returns bugs of the rules of long messages (internal/protocol/rendezvous).
func longBugs() []Edit {
	return []Edit{
		{
			Name: "long-announce", Rule: "the receiver counts each announcement that arrives",
			// Every withdrawal is kept for an announcement that has already come and never comes
			// again.
			Changes: []Change{{longPeer, "\tp.heard++\n", ""}},
			Hunt:    cluster("I13"),
			Tests:   []Test{{Run: "TestExplore/one_message"}},
		},
		{
			Name: "long-grant", Rule: "a grant for a send that is over is refused",
			// The sender reads from a buffer that its program already uses for other data.
			Changes: []Change{{longSend, "if !s.Waits() && s.stage != pulled || from", "if from"}},
			Hunt:    cluster("I11", "I12", "assert"),
			Tests:   []Test{{Run: "TestExplore/one_message"}},
		},
		{
			Name: "long-chunk", Rule: "a chunk for a receive that is over is dropped",
			Changes: []Change{{longRecv, "r.stage == matched && from == r.from && offset", "from == r.from && offset"}},
			Hunt:    cluster("I12", "assert"),
			Tests:   []Test{{Run: "TestExplore/one_message"}},
		},
		{
			Name: "long-withdraw", Rule: "a withdrawal that overtakes its announcement is kept",
			Changes: []Change{{longPeer, "\tif w.Number > p.heard {\n", "\tif false {\n"}},
			Hunt:    cluster("I13"),
			Tests: []Test{
				{Run: "TestExplore/one_message"},
				{Package: "internal/engine", Run: "TestWithdrawalOvertakesItsAnnouncement"},
			},
		},
		{
			Name: "long-withdrawn", Rule: "a withdrawn message is removed from the queues",
			// A receive gets the withdrawn message, too.
			Changes: []Change{{longPeer, "\tm.Take(msg)\n\tm.Recycle(msg)\n", ""}},
			Hunt:    cluster("I10", "I13"),
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "long-refuse", Rule: "the refusal of a message ends the wait of its sender",
			// In a cluster the revocation ends the send sooner or later.
			Changes: []Change{{longSend, "func (s *Send) Refused(from int) bool { return s.Waits() && from == s.to }", "func (s *Send) Refused(from int) bool { return false }"}},
			Tests:   []Test{{Run: "TestExplore/a_receiver_that_frees"}},
		},
		{
			Name: "long-gone", Rule: "the answer that a send is over ends the wait of its receiver",
			Changes: []Change{{longRecv, "func (r *Recv) IsGone(from int) bool { return r.stage == matched && from == r.from }", "func (r *Recv) IsGone(from int) bool { return false }"}},
			Tests:   []Test{{Run: "TestExplore/a_sender_gives_up"}},
		},
		{
			Name: "long-tell", Rule: "a sender that gives up between two chunks notifies the receiver",
			Changes: []Change{{longSend, "tell = s.stage == matched && s.moved < s.limit", "tell = false"}},
			Tests:   []Test{{Run: "TestExplore/a_sender_gives_up"}, {Package: "internal/engine", Run: "TestSenderThatGivesUpSaysSo"}},
		},
		{
			Name: "long-count", Rule: "an announcement that a receive reads from the ring directly is counted, too",
			Changes: []Change{{engineQuick, "if p.transfers.isTakenBack(proc, h.Handle) {", "if false {"}},
			Tests:   []Test{{Run: "TestWithdrawalAfterReceives"}},
		},
	}
}
