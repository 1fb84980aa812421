package edits

// matchingBugs returns bugs of one process's matching rules (internal/protocol/match).
func matchingBugs() []Edit {
	return []Edit{
		{
			Name: "order", Rule: "messages of one source do not overtake each other",
			// A receive gets the latest message that it matches (MPI 3.5).
			Changes: []Change{{matchQueues, "\t\tm.remove(s, msg)\n\t\treturn msg\n", `		for next := msg; next != nil; next = next.links[bySource].next {
			if matches(r.Tag, next.Tag) {
				msg = next
			}
		}
		m.remove(s, msg)
		return msg
`}},
			Hunt: matching("I10"),
		},
		{
			Name: "posted", Rule: "of two receives the one posted first gets the message",
			// A receive that names the source has priority over an earlier receive from any
			// source.
			Changes: []Change{{matchQueues, "\tq, r := s.earliest(src, tag)\n", `	q, r := s.earliest(src, tag)
	if named := &s.sources.At(src).posted; named.first(tag) != nil {
		q, r = named, named.first(tag)
	}
`}},
			Hunt: matching("I10"),
		},
		{
			Name: "held", Rule: "a message that comes before its communicator is kept",
			// Messages for a Pending context are dropped when the context opens.
			Changes: []Change{{matchLife, "\t\tif s.keeps(msg.Src) {\n", "\t\tif false {\n"}},
			Hunt:    matching("I10"),
		},
		{
			Name: "R8", Rule: "complete messages of the dead are received",
			// A death drops all messages of the dead that wait, complete and announced ones.
			Changes: []Change{{matchLife, "\tif s.state != Live {\n", `	for msg := s.arrivals.head; msg != nil; {
		next := msg.links[byArrival].next
		if msg.Src == src {
			m.drop(s, msg, dropped)
		}
		msg = next
	}
	if s.state != Live {
`}},
			Hunt: matching("I10"),
		},
		{
			Name: "R46", Rule: "a receive from the dead ends",
			Changes: []Change{{matchLife, "\tend(s, &s.sources.At(src).posted, ended)\n\tfor r", "\tfor r"}},
			Hunt:    matching("I8"),
		},
		{
			Name: "R46-order", Rule: "an announced message of the dead is not overtaken by a later one",
			// A death drops the announced messages of the dead.
			Changes: []Change{{matchLife, "\tif s.all {\n\t\tm.dropAnnounced(s, src, dropped)\n\t}\n", "\tm.dropAnnounced(s, src, dropped)\n"}},
			Hunt:    matching("I10"),
		},
		{
			Name: "B4-match", Rule: "a revocation that comes before its communicator is kept",
			// A revocation has no effect on a Pending context.
			Changes: []Change{{matchLife, "\tm.endAll(s, ended)\n\tm.dropAll(s, dropped)\n\ts.state, s.sources", "\tif s.state == Pending {\n\t\treturn\n\t}\n\tm.endAll(s, ended)\n\tm.dropAll(s, dropped)\n\ts.state, s.sources"}},
			Hunt:    matching("I8"),
		},
	}
}
