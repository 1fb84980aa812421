package commitinterval

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// A paced is a world in virtual time whose members find the interval themselves, as those of
// package recovery do. Each member has a Pacer, and the shortest requested interval is used. A lost
// member is replaced by one that has observed nothing yet, and requests no interval before it has
// measured a commit. Failures are a Poisson process.
type paced struct {
	members             []*Pacer
	replacements        map[*Pacer]bool
	cold                int           // the first point of an attempt takes cold times as long as others
	point, cost, repair mono.Duration // their durations
	mtbf                mono.Duration // which is the prior of the members, too
	every               int           // points between commits; 0: as the members request

	rng      *rand.Rand
	now      mono.Time
	next     mono.Time // of the next loss of a member
	failures int
}

func newPaced(every int, seed uint64) *paced {
	w := &paced{point: 10 * mono.Millisecond, cost: 20 * mono.Millisecond, repair: 500 * mono.Millisecond, mtbf: 2 * mono.Second, every: every, replacements: map[*Pacer]bool{}, cold: 8}
	w.rng = rand.New(rand.NewPCG(seed, 9))
	for range 8 {
		w.members = append(w.members, New(w.mtbf, w.now))
	}
	w.draw()
	return w
}

func (w *paced) draw() {
	w.next = w.now.Add(mono.Duration(w.rng.ExpFloat64() * float64(w.mtbf)))
}

// spend advances the time. It returns false if a member is lost meanwhile: all time until then is
// wasted.
func (w *paced) spend(d mono.Duration) bool {
	if w.now.Add(d) < w.next {
		w.now = w.now.Add(d)
		return true
	}
	w.now = w.next
	w.failures++
	victim := 1 + w.rng.IntN(len(w.members)-1) // member 0 observes all failures
	for _, m := range w.members {
		m.Failed(1)
	}
	w.members[victim] = New(w.mtbf, w.now)
	w.replacements[w.members[victim]] = true
	w.draw()
	return false
}

// requested is the agreed interval.
func (w *paced) requested() int {
	word := ^uint32(0)
	for _, m := range w.members {
		if m.Measured() || !w.replacements[m] {
			word &= Encode(m.Points(w.now))
		}
	}
	return Decode(word)
}

// run computes the given number of points, and returns the additional time, relative to a run
// without failures and commits.
func (w *paced) run(points int) (overhead float64) {
	every, extra := max(w.every, 1), w.cold-1
	for done := 0; done < points; {
		begun := w.now
		requested := w.requested() // without the measurement of this commit
		work := mono.Duration(every+extra) * w.point
		extra = 0
		if w.spend(work) && w.spend(w.cost) {
			for _, m := range w.members {
				m.Committed(w.now.Sub(begun)-w.cost, every, w.cost)
			}
			done += every
			if w.every == 0 {
				every = requested
			}
			continue
		}
		for !w.spend(w.repair) {
			continue
		}
		every, extra = max(w.every, 1), w.cold-1
		for _, m := range w.members {
			m.Resumed()
		}
	}
	return float64(w.now)/float64(mono.Duration(points)*w.point) - 1
}

// TestTimeThatIsLostCounts: a third of the time is lost to failures and repairs. A member that has
// seen many failures knows the MTBF, and the world loses hardly more than with Daly's interval for
// the true MTBF.
func TestTimeThatIsLostCounts(t *testing.T) {
	const points, worlds = 20_000, 20
	own, advised, estimate := 0.0, 0.0, 0.0
	for seed := range uint64(worlds) {
		w := newPaced(0, seed)
		best := newPaced(int(Interval(w.cost, w.mtbf)/w.point), seed)
		own, advised = own+w.run(points)/worlds, advised+best.run(points)/worlds
		estimate += float64(w.members[0].MTBF(w.now)) / float64(w.mtbf) / worlds
		assert.Greater(t, w.failures, 50)
	}
	t.Logf("overhead %.3f, at Daly's interval %.3f; the MTBF seems to be %.3f of what it is", own, advised, estimate)
	assert.Less(t, own, advised*1.1)
	assert.InDelta(t, 1, estimate, 0.1)
}
