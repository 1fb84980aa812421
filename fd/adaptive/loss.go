package adaptive

import "math/bits"

// losses counts which beats were lost. The last 64 are a bitmap, so that a beat out of
// order was late and not lost; the older ones are counts.
type losses struct {
	seen     uint64 // bit a: beat highest-a has come
	highest  uint32 // the latest number that has come
	span     uint8  // how many bits of seen mean something: 0 before the first beat
	sent     uint16 // older beats
	lost     uint16 // of these
	together uint16 // of these, with the next one lost too
}

// memory is how many beats are counted before all counts are halved: the old count less.
const memory = 4096

// mark records that beat seq has come. The result is false for a known beat and for a beat older
// than the bitmap: a replay, or too late to count.
func (l *losses) mark(seq uint32) bool {
	if l.span == 0 {
		l.highest, l.seen, l.span = seq, 1, 1
		return true
	}
	ahead := int32(seq - l.highest)
	if ahead > 0 {
		l.advance(uint32(ahead))
		l.highest = seq
		return true
	}
	age := -int64(ahead)
	if age >= int64(l.span) || l.seen>>age&1 == 1 {
		return false
	}
	l.seen |= 1 << age
	return true
}

// advance moves the bitmap on by so many beats, of which the last one has come.
func (l *losses) advance(by uint32) {
	for range min(by, 64) {
		l.judgeOldest()
		l.seen <<= 1
		l.span = min(l.span+1, 64)
	}
	if by > 64 { // all that was in the bitmap is judged, and these were lost
		more := uint16(min(by-64, memory))
		l.count(more, more, more)
	}
	l.seen |= 1
}

// judgeOldest counts the beat that leaves the bitmap.
func (l *losses) judgeOldest() {
	if l.span < 64 {
		return
	}
	switch l.seen >> 62 {
	case 0:
		l.count(1, 1, 1)
	case 1: // this beat was lost, the next one came
		l.count(1, 1, 0)
	default:
		l.count(1, 0, 0)
	}
}

func (l *losses) count(sent, lost, together uint16) {
	l.sent, l.lost, l.together = l.sent+sent, l.lost+lost, l.together+together
	for l.sent >= memory {
		l.sent, l.lost, l.together = l.sent/2, l.lost/2, l.together/2
	}
}

// estimate returns the probability that a beat is lost (p1), and that a beat is lost after a lost
// beat (p2).
//
// p1 is Laplace's (lost+1)/(sent+2). The share of the last 100 beats instead is 0 most of
// the time where 1 of 1,000 is lost, and then leads to periods with which a month has 68
// mistakes where 1 was asked for.
//
// p2 begins as p1 and follows the observed losses, which come in bursts.
func (l *losses) estimate() (p1, p2 float64) {
	gaps := ^l.seen & (1<<l.span - 1)
	sent := float64(l.sent) + float64(l.span)
	lost := float64(l.lost) + float64(bits.OnesCount64(gaps))
	together := float64(l.together) + float64(bits.OnesCount64(gaps&(gaps<<1)))
	p1 = (lost + 1) / (sent + 2)
	return p1, max(p1, (together+4*p1)/(lost+4))
}
