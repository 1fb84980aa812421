package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A regime is the mode of operation of a group, the same at all members: which members read the
// payloads of others, and the sizes up to which payloads are published whole, in the lines or the
// slots of the data regions, with one synchronization.
type regime struct {
	mutual  bool // every rank has a core: Config.Mutual
	central bool // the last member to arrive works for all
	chunkOf int  // Config.Chunk

	bcastWhole, reduceWhole, allreduceWhole, scanWhole int
	blocksWhole                                        int // longer blocks are pulled
}

const (
	// mutualMembersMax is the number of members up to which each reads all lines itself, with n*n
	// transfers of a line.
	mutualMembersMax = 8

	// The largest whole payload of operations that otherwise use a ring: a broadcast, a scan,
	// reductions of two.
	ringDirectMutual = 4 << 10
	// A reduction of whole payloads saves a synchronization, but reads all payloads, where the
	// large algorithm reads one n-th of each.
	reduceDirectMutual  = 16 << 10 // of n-1 payloads, from three members on
	reduceDirectCentral = 64 << 10 // of n payloads
)

func regimeOf(c *Config) regime {
	r := regime{mutual: c.Mutual, central: !c.Mutual || c.N > mutualMembersMax, chunkOf: c.Chunk}
	r.bcastWhole, r.reduceWhole = longBytes, longBytes
	r.blocksWhole, r.scanWhole = longBytes, longBytes
	whole := reduceDirectCentral / c.N
	if r.mutual {
		r.bcastWhole, r.scanWhole = ringDirectMutual, ringDirectMutual
		if c.Pull != nil {
			r.blocksWhole = WholeBytes
		}
	}
	inline := inlineOf(c.N)
	switch {
	case !r.central && c.N <= 2:
		whole, r.reduceWhole = ringDirectMutual, ringDirectMutual
	case !r.central:
		whole = reduceDirectMutual / (c.N - 1)
		r.reduceWhole = max(inline, min(longBytes, whole))
	}
	r.allreduceWhole = max(inline, min(longBytes, whole))
	return r
}

// ringBytes is the part of the area that a ring may use. If each member has a core, the ring is
// larger than a second-level cache: then the old chunk in a place has left its reader's cache when
// the next chunk is written there, and the write is faster than a transfer from that cache. If
// members share cores, the ring stays short.
func (r *regime) ringBytes() int {
	if r.mutual {
		return areaBytes
	}
	return sharedAreaBytes
}

const (
	ringChunkMutual    = 16 << 10
	ringChunkMutualMin = 4 << 10 // short messages overlap copying in and out, too
)

// ringChunk returns the bytes of a chunk of an operation of size bytes that uses rings.
func (r *regime) ringChunk(size int) int {
	switch {
	case r.chunkOf > 0:
		return min(r.chunkOf, ringChunkBytesMax)
	case r.mutual:
		return min(max(size/4&^(segment.Line-1), ringChunkMutualMin), ringChunkMutual)
	}
	return ringChunkBytesMax
}

// reduceChunkMutual is enough for more than 8 members that have a core each: the slices of a chunk
// of 64 KiB would be short.
const reduceChunkMutual = 128 << 10

// reduceChunk returns the bytes of a chunk of a large reduction.
func (r *regime) reduceChunk() int {
	switch {
	case r.chunkOf > 0:
		return min(r.chunkOf, chunkBytesMax)
	case !r.mutual:
		return chunkBytesMax
	}
	return reduceChunkMutual
}
