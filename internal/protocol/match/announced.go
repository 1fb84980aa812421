package match

// Announced returns the unexpected message that src announced under handle, or nil. A sender uses
// it to take an announced message back. The search covers all contexts.
func (m *Matcher) Announced(src int, handle uint64) *Message {
	for _, p := range m.table.pages {
		if p == m.table.absentPage || p == m.table.sharedFreed {
			continue
		}
		for _, s := range p.spaces {
			for msg := s.arrivals.head; msg != nil; msg = msg.links[byArrival].next {
				if msg.Announced && msg.Src == src && msg.Handle == handle {
					return msg
				}
			}
		}
	}
	return nil
}
