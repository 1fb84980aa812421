package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A regime is how a group works, the same at all members: who reads what others publish, and
// up to what size an operation's payload goes whole, through the lines or the slots of the
// data regions, with one synchronization.
type regime struct {
	mutual  bool // every rank has a core: Config.Mutual
	central bool // the last member to arrive works for all
	chunkOf int  // Config.Chunk

	bcastWhole, reduceWhole, allreduceWhole, scanWhole int
	blocksWhole                                        int // longer blocks are pulled
}

const (
	// mutualMembersMax is up to how many members each reads all lines itself: that
	// is n*n transfers of a line.
	mutualMembersMax = 8

	// Of what a ring takes else: a broadcast, a scan, reductions of two.
	ringDirectMutual = 4 << 10
	// A reduction of whole payloads reads all of them where the large algorithm
	// reads one n-th, and saves a synchronization for it.
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

// ringBytes is what a ring may use of the area. Where each member has a core it goes round
// in more than a second-level cache has: a chunk is then written where the one before it
// has left the cache of its reader, from where the writer would take longer to get it. Where
// members share cores it stays short.
func (r *regime) ringBytes() int {
	if r.mutual {
		return areaBytes
	}
	return sharedAreaBytes
}

const (
	ringChunkMutual    = 16 << 10
	ringChunkMutualMin = 4 << 10 // so that short messages overlap copying in and out too
)

// ringChunk returns the bytes of a chunk of an operation of size bytes that goes through rings.
func (r *regime) ringChunk(size int) int {
	switch {
	case r.chunkOf > 0:
		return min(r.chunkOf, ringChunkBytesMax)
	case r.mutual:
		return min(max(size/4&^(segment.Line-1), ringChunkMutualMin), ringChunkMutual)
	}
	return ringChunkBytesMax
}

const (
	reduceChunkMutual = 128 << 10
	// Above 8 members with a core each a slice of 64 KiB would be short.
	reduceChunkMany = 128 << 10
)

// reduceChunk returns the bytes of a chunk of a large reduction.
func (r *regime) reduceChunk() int {
	switch {
	case r.chunkOf > 0:
		return min(r.chunkOf, chunkBytesMax)
	case !r.mutual:
		return chunkBytesMax
	case r.central:
		return reduceChunkMany
	}
	return reduceChunkMutual
}
