package nodecoll

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Config is what all members of a group agree on, and which of them this is.
// Everything but Me is the same at all of them.
type Config struct {
	// N members, 0 to N-1 in the order in which operands are reduced; this is Me.
	N, Me int
	// Mutual says that every rank has a core: each reads what each published.
	// Otherwise, and with more than 8 members, the last to arrive does the work
	// for all ("central"), so that a rank runs once per operation.
	Mutual bool
	// Lines holds LinesBytes, mapped.
	Lines segment.Region
	// Data returns DataBytes of a member. It is asked for when first needed, once
	// for each member.
	Data func(member int) segment.Region
	// Base is, per member, what its sequence words start from. A region may have
	// been another group's before: then Base[m] is at least that group's, plus the
	// operations that any of its members started, plus one. (Generation << 40 is.) With all
	// operations of this group, opsMax at most, they stay below 1 << 63.
	Base []uint64
	// Pull copies from an address in the memory of a member, and says whether the
	// kernel lets it: false ends the operation for all, see Refused. nil: blocks of more
	// than PayloadBytes must not come.
	Pull func(member int, addr uint64, dst []byte) bool
	// Chunk is the bytes per step of the large algorithms; 0: a default for the
	// regime.
	Chunk int
}

func (c *Config) check() {
	that(c.N >= 1 && c.N <= releaserMask && c.Me >= 0 && c.Me < c.N, "member %d of %d", c.Me, c.N)
	that(len(c.Base) == c.N, "%d members with %d bases", c.N, len(c.Base))
	for m, base := range c.Base {
		that(base < unfinished-opsMax, "base %x of member %d", base, m)
	}
	that(c.Chunk >= 0, "chunk of %d bytes", c.Chunk)
	that(c.Lines.Size() >= LinesBytes(c.N), "lines of %d bytes for %d members", c.Lines.Size(), c.N)
}

// that panics unless a program that uses this package is correct. What a peer
// wrote is never asserted.
func that(cond bool, format string, args ...any) {
	if !cond {
		panic("goulfm: collectives in shared memory: " + fmt.Sprintf(format, args...))
	}
}
