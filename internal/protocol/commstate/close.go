package commstate

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// Orphan is a creation that member Rank gave up, undecided there, before it closed the
// parent. If another member decided the creation, the communicator that it made has a
// member that never joins.
type Orphan struct {
	Rank int    // in the parent
	Seq  uint64 // in SeriesCreate
}

// encodeGivenUp encodes the numbers of the creations that a revocation gave up
// and that are not decided here. This member is about to forget them.
func (c *Comm) encodeGivenUp() []byte {
	var b []byte
	for _, p := range c.open {
		if p.GivenUp && p.Series == SeriesCreate {
			b = wire.AppendUint(b, p.Seq)
		}
	}
	return b
}

// Orphans decodes the creations that the members gave up from the decided value of a
// closing agreement: by rank, then by number.
func Orphans(v era.Value) []Orphan {
	var orphans []Orphan
	for _, e := range v.Entries {
		r := wire.NewReader(e.Data)
		for r.Left() > 0 {
			seq := r.Uint()
			if r.Err() != nil {
				break
			}
			orphans = append(orphans, Orphan{Rank: e.Rank, Seq: seq})
		}
	}
	return orphans
}
