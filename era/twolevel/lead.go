package twolevel

import "github.com/goulfm/goulfm/era"

// lead enters the next agreement of the nodes, if this member leads its node and all its
// members have contributed or stopped. It says whether it did.
//
// Who has become leader enters all that the one before may have entered, as if nothing had
// been said: what that was told is lost with it, and who waits for this node, or has asked
// it, says so again (A25). What that had decided stands in memory, and is learned; it may
// have decided a later agreement before an earlier one.
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

// stepUpper gives an event to the agreement of the nodes. What that decides is written
// before anything of what it sends can be (A26). Otherwise:
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
