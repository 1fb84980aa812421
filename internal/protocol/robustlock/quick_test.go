package robustlock

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// logged is a Memory that records each access.
type logged struct {
	view
	log *[]string
}

func (m logged) note(format string, args ...any) {
	*m.log = append(*m.log, fmt.Sprintf(format, args...))
}

func (m logged) Word() uint64      { m.note("W?"); return m.view.Word() }
func (m logged) Hint() bool        { m.note("N?"); return m.view.Hint() }
func (m logged) Claim(o int) Claim { m.note("S%d?", o); return m.view.Claim(o) }
func (m logged) Release(w uint64)  { m.note("W=%d", w); m.view.Release(w) }
func (m logged) SetHint(h bool)    { m.note("N=%v", h); m.view.SetHint(h) }
func (m logged) SetClaim(c Claim)  { m.note("S=%d", c); m.view.SetClaim(c) }
func (m logged) Swap(o, n uint64) bool {
	m.note("W:%d->%d", o, n)
	return m.view.Swap(o, n)
}

func (m logged) SetClaimFenced(c Claim) {
	m.note("S=%d!", c)
	m.view.SetClaimFenced(c)
}

// TestQuickWays: Lock and Unlock make the accesses of the phases, in their order, from every state
// of memory. The searches know the phases only.
func TestQuickWays(t *testing.T) {
	words := []uint64{free, first, 2, 3, 1 | handed, 2 | handed}
	for state := range 6 * 2 * 4 * 4 * 3 {
		set := func() (*world, *Lock, *[]string) {
			w := newWorld("", "", "")
			w.word = words[state%6]
			w.hint = state/6%2 == 1
			w.claims[1], w.claims[2] = Claim(state/12%4), Claim(state/48%4)
			var log []string
			l := &w.locks[0]
			l.memory = logged{view{w, 0}, &log}
			return w, l, &log
		}
		mode := []Mode{Shared, Exclusive, Mend}[state/192]
		quickWorld, quick, quickLog := set()
		slowWorld, slow, slowLog := set()
		quick.Lock(mode)
		slow.startLock(mode)
		slow.Look()
		for _, w := range []*world{quickWorld, slowWorld} {
			if w.locks[0].Outcome() == Waiting { // the cause of the wait is removed
				w.word, w.claims[1], w.claims[2] = w.mine(0), Absent, Absent
				w.locks[0].Look()
			}
		}
		require.Equal(t, Held, quick.Outcome(), "state %d", state)
		quick.Unlock()
		slow.startUnlock()
		slow.Look()
		require.Equal(t, *slowLog, *quickLog, "state %d", state)
		require.Equal(t, slowWorld.key(), quickWorld.key(), "state %d", state)
	}
}

// mine is W if it names p as its holder, otherwise free.
func (w *world) mine(p int) uint64 {
	if w.word == w.locks[p].name {
		return w.word
	}
	return free
}
