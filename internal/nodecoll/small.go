package nodecoll

// Up to what size a payload goes whole, through the lines or the slots of the
// data regions, with one synchronization.
const (
	// Of what a ring takes else: a broadcast, a scan, reductions of two.
	ringDirectMutual = 4 << 10
	// A reduction of whole payloads reads all of them where the large algorithm
	// reads one n-th, and saves a synchronization for it.
	reduceDirectMutual  = 16 << 10 // of n-1 payloads, from three members on
	reduceDirectCentral = 64 << 10 // of n payloads
)

// setDirect fixes up to what size the operations of this group go whole.
func (g *Group) setDirect() {
	n := len(g.members)
	g.bcastDirect, g.reduceDirect = longBytes, longBytes
	g.whole, g.scanDirect = longBytes, longBytes
	whole := reduceDirectCentral / n
	if g.mutual {
		g.bcastDirect, g.scanDirect = ringDirectMutual, ringDirectMutual
		if g.pullOf != nil {
			g.whole = WholeBytes
		}
	}
	switch {
	case !g.central && n <= 2:
		whole, g.reduceDirect = ringDirectMutual, ringDirectMutual
	case !g.central:
		whole = reduceDirectMutual / (n - 1)
		g.reduceDirect = max(g.inline, min(longBytes, whole))
	}
	g.allreduceDirect = max(g.inline, min(longBytes, whole))
}

// see waits for all arrival lines.
func (g *Group) see() bool {
	for ; g.cursor < len(g.members); g.cursor++ {
		if g.cursor != g.me && !g.arrived(g.cursor) {
			return false
		}
	}
	g.safe = g.op - 1
	switch {
	case g.next == working:
		g.releaseAll()
		g.stepDone()
		return true
	case g.next == pulling:
		g.cursor, g.phase = 0, confirming
		return true
	case g.takes():
		if g.next == counting {
			g.releaseAll()
		}
		g.cursor, g.phase = 0, taking
		return true
	case g.dst != nil && g.size > 0:
		g.combine()
	}
	if g.next == counting {
		// Only the last one reads payloads, and it has: its own slot is free for the
		// result.
		if g.size > 0 {
			g.copier.Copy(g.payload(g.me), g.dst)
		}
		g.releaseAll()
	}
	g.finish()
	return true
}

// combine reduces all payloads into dst, in rank order. There are two at least.
func (g *Group) combine() {
	own := g.own()
	var acc []byte
	for m := range g.members {
		in := own
		if m != g.me {
			in = g.payload(m)
		}
		if m > 0 {
			g.red.Func(g.dst, acc, in)
			in = g.dst
		}
		acc = in
	}
}

// own returns this member's operand where the result does not overwrite it. What it has
// published is the last choice: it is in others' caches.
func (g *Group) own() []byte {
	switch {
	case !g.overwrites():
		return g.src
	case g.keepsOwn():
		return append(g.scratch()[:0], g.src...)
	}
	return g.payload(g.me)
}

// keepsOwn says whether own needs nothing that this member has published.
func (g *Group) keepsOwn() bool { return g.size <= blockBytes || !g.overwrites() }

// scratch returns blockBytes for operations that have no destination to reduce into.
func (g *Group) scratch() []byte {
	if g.acc == nil {
		g.acc = make([]byte, blockBytes)
	}
	return g.acc
}

// overwrites says whether what comes of the operands of lower members overwrites this one's.
func (g *Group) overwrites() bool { return g.me > 1 && &g.dst[0] == &g.src[0] }

// read waits for the root's line and takes the payload.
func (g *Group) read() bool {
	if !g.arrived(g.root) {
		return false
	}
	g.members[g.root].left = g.op - 1
	switch {
	case g.size == 0:
	case g.verb == scatter:
		copy(g.dst, g.payload(g.root)[g.partAt():])
	default:
		copy(g.dst, g.payload(g.root))
	}
	g.finish()
	return true
}
