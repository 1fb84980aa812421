package edits

// longBugs are bugs of the rules of long messages (internal/protocol/rendezvous).
func longBugs() []Edit {
	return []Edit{
		{
			Name: "long-announce", Rule: "an announcement that has come is counted",
			// Every withdrawal is kept for an announcement that never comes again.
			Changes: []Change{{longPeer, "\tp.heard++\n", ""}},
			Hunt:    cluster("I13"),
			Tests:   []Test{{Run: "TestExplore/one_message"}},
		},
		{
			Name: "long-grant", Rule: "a grant for a send that is over is refused",
			// The sender reads from a buffer that its program uses for something else.
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
			Name: "long-withdrawn", Rule: "what is withdrawn is taken out of the queues",
			// A receive gets it, too.
			Changes: []Change{{longPeer, "\tm.Take(msg)\n\tm.Recycle(msg)\n", ""}},
			Hunt:    cluster("I10", "I13"),
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "long-refuse", Rule: "a sender whose message is refused waits no longer",
			// In a cluster the revocation ends the send sooner or later.
			Changes: []Change{{longSend, "func (s *Send) Refused(from int) bool { return s.Waits() && from == s.to }", "func (s *Send) Refused(from int) bool { return false }"}},
			Tests:   []Test{{Run: "TestExplore/a_receiver_that_frees"}},
		},
		{
			Name: "long-gone", Rule: "a receiver whose sender is gone waits no longer",
			Changes: []Change{{longRecv, "func (r *Recv) IsGone(from int) bool { return r.stage == matched && from == r.from }", "func (r *Recv) IsGone(from int) bool { return false }"}},
			Tests:   []Test{{Run: "TestExplore/a_sender_gives_up"}},
		},
		{
			Name: "long-tell", Rule: "a sender that gives up between two chunks says so",
			Changes: []Change{{longSend, "tell = s.stage == matched && s.moved < s.limit", "tell = false"}},
			Tests:   []Test{{Run: "TestExplore/a_sender_gives_up"}, {Package: "internal/engine", Run: "TestSenderThatGivesUpSaysSo"}},
		},
		{
			Name: "long-count", Rule: "an announcement that a receive takes from the ring is counted, too",
			Changes: []Change{{engineQuick, "if p.transfers.isTakenBack(proc, h.Handle) {", "if false {"}},
			Tests:   []Test{{Run: "TestWithdrawalAfterReceives"}},
		},
	}
}
