package match

// Posted returns the number of receives that wait on ctx.
func (m *Matcher) Posted(ctx uint32) int { return m.table.space(ctx).posted }

// Unexpected returns the number of messages that wait on ctx.
func (m *Matcher) Unexpected(ctx uint32) int { return m.table.space(ctx).unexpected }

// Buffered returns the number of messages that wait on all contexts, and the bytes of their payload
// that this process holds.
func (m *Matcher) Buffered() (messages, bytes int) { return m.messages, m.bytes }

// EachUnexpected calls f for every message that waits on ctx, by arrival. f must not call the
// Matcher.
func (m *Matcher) EachUnexpected(ctx uint32, f func(*Message)) {
	for msg := m.table.space(ctx).arrivals.head; msg != nil; msg = msg.links[byArrival].next {
		f(msg)
	}
}

// Each calls f for every posted receive, by context and then in the order of
// Revoke. f must not call the Matcher.
func (m *Matcher) Each(f func(*Recv)) {
	for _, p := range m.table.pages {
		if p == m.table.absentPage || p == m.table.sharedFreed {
			continue
		}
		for _, s := range p.spaces {
			s.each(f)
		}
	}
}

func (s *space) each(f func(*Recv)) {
	s.sources.Each(func(from *source) { from.posted.each(f) })
	s.wild.each(f)
}

func (q *recvQueue) each(f func(*Recv)) {
	for r := q.head; r != nil; r = r.next {
		f(r)
	}
}
