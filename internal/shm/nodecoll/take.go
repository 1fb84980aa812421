package nodecoll

// A taker takes this member's data out of the payloads of all members, which have arrived: whole
// blocks, or their parts for this member.
type taker struct {
	cursor int // members 0 to cursor-1 are done
}

func (t *taker) start(g *Group) { t.cursor, g.phase = 0, taking }

// step takes from one member after the other.
func (t *taker) step(g *Group) bool {
	for ; t.cursor < len(g.members) && g.size > 0; t.cursor++ {
		if g.budget <= 0 {
			return false
		}
		if t.cursor != g.me || g.verb == reduceScatter { // this member's own block is there already
			g.budget -= t.take(g, t.cursor)
		}
	}
	g.endOperation()
	return true
}

func (t *taker) waitsFor(*Group, int) bool { return false }

// take takes this member's data out of m's payload, and returns the number of bytes.
func (t *taker) take(g *Group, m int) int {
	switch g.verb {
	case alltoall:
		return copy(g.dst[m*g.part:], t.partFrom(g, m))
	case reduceScatter:
		switch m {
		case 0: // with the next
			return 0
		case 1:
			g.red.Func(g.dst, t.operandOf(g, 0), t.operandOf(g, 1))
		default:
			g.red.Func(g.dst, g.dst, t.operandOf(g, m))
		}
		return g.part
	}
	return copy(g.dst[m*g.size:], g.payload(m))
}

// partFrom returns the part for this member of m's payload.
func (t *taker) partFrom(g *Group, m int) []byte {
	payload := g.payload(m)
	if len(g.members) == 2 {
		return payload
	}
	return payload[g.me*g.part:][:g.part]
}

// operandOf returns member m's operand of this member's part. This member's own operand is read
// from src, because the published payload is in the caches of others, unless the combined operands
// of lower members overwrite src.
func (t *taker) operandOf(g *Group, m int) []byte {
	if own := g.src[g.me*g.part:][:g.part]; m == g.me && (m <= 1 || &g.dst[0] != &own[0]) {
		return own
	}
	return t.partFrom(g, m)
}
