package nodecoll

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Config is the configuration of a group. Everything except Me is the same at all members.
type Config struct {
	// N is the number of members; operands are reduced in the order 0 to N-1. Me is this member.
	N, Me int
	// Mutual means that every rank has a core: each member reads the payloads of all. Otherwise,
	// and with more than 8 members, the last to arrive does the work for all ("central"), so that a
	// rank runs once per operation.
	Mutual bool
	// Lines holds LinesBytes, mapped.
	Lines segment.Region
	// Data returns DataBytes of a member. The Group calls Data once for each member, at first use.
	Data func(member int) segment.Region
	// Base is, per member, the origin of its sequence words. If an earlier group used a region,
	// Base[m] must be at least that group's base, plus the operations that any of its members
	// started, plus one. (Generation << 40 is such a base.) The sequence words of all operations of
	// this group, at most opsMax, must stay below 1 << 63.
	Base []uint64
	// Pull copies from an address in the memory of a member, and reports whether the kernel permits
	// the copy: false ends the operation for all, see Refused. nil: blocks of more than
	// PayloadBytes are not allowed.
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

// that panics if a program uses this package in a wrong way. Values that a peer wrote are never
// asserted.
func that(cond bool, format string, args ...any) {
	if !cond {
		panic("goulfm: collectives in shared memory: " + fmt.Sprintf(format, args...))
	}
}
