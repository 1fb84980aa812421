package twolevel

import "github.com/goulfm/goulfm/era"

// lead enters the next agreement of the nodes, if this member leads its node and all members of the
// node have contributed or stopped, or learns its decision if the memory has one. The result
// reports whether lead did either.
//
// A new leader enters all agreements that the former leader may have entered, as if nothing had
// been sent: messages to the former leader are lost, and members that wait for this node, or have
// asked it, repeat theirs (A25). Decisions of the former leader are in memory, and are learned; a
// later agreement may have been decided before an earlier one.
func (s *Series) lead() bool {
	k := s.upper.Next()
	if !s.leads || k > s.entered {
		return false
	}
	if v, there := s.written(k); there {
		s.stepUpper(era.Learned{Seq: k, Value: v})
		return true
	}
	v, all := s.contribution(k)
	if !all {
		return false
	}
	s.stepUpper(era.Propose{Value: v, Again: k <= s.inherited})
	return true
}

// stepUpper applies an event to the agreement of the nodes. Its decisions are written to memory
// before any of its messages can be sent (A26). Otherwise:
//
//	L tells another node the decision and dies. Its heir finds no word: it contributes, and
//	waits for the nodes below. They have the decision from L, and send nothing.
//
// The caller gets the decision from memory: see follow.
func (s *Series) stepUpper(ev era.Event) {
	acts := s.upper.Step(ev)
	for _, a := range acts {
		if d, ok := a.(era.Decide); ok {
			s.write(d.Seq, d.Value)
		}
	}
	for _, a := range acts {
		if _, ok := a.(era.Decide); !ok {
			s.out = append(s.out, a)
		}
	}
}
