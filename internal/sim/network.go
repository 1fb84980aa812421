package sim

import "github.com/goulfm/goulfm/internal/mono"

// network delays frames. Those between two processes arrive in the order in
// which they were sent, as on a ring or a connection; nothing else is ordered.
type network struct {
	n      int
	tape   *tape
	tails  bool
	slow   []bool      // at i*n+j: frames from i to j always take long
	latest []mono.Time // of arrivals from i to j, at i*n+j
	cut    []mono.Time // frames from i to j that would arrive after it are lost; 0 = none
}

func newNetwork(t *tape, s swarm) *network {
	n := s.n
	w := &network{n: n, tape: t, tails: s.tails, slow: make([]bool, n*n), latest: make([]mono.Time, n*n), cut: make([]mono.Time, n*n)}
	for i := range w.slow {
		w.slow[i] = t.percent(s.slowPairs)
	}
	return w
}

// arrival draws when a frame that is sent now arrives.
func (w *network) arrival(from, to int, now mono.Time, slow bool) mono.Time {
	delay := messageDelay/10 + w.tape.uniform(messageDelay)
	if w.tails {
		delay += w.tape.tail(messageDelay)
	}
	pair := from*w.n + to
	if slow || w.slow[pair] {
		delay += w.tape.tail(10 * messageDelay)
	}
	w.latest[pair] = max(w.latest[pair]+1, now.Add(delay))
	return w.latest[pair]
}

// lose destroys, towards each process, a random part of what the dead process
// has on the way: the last frames, never one in the middle.
func (w *network) lose(from int, now mono.Time) {
	for to := range w.n {
		pair := from*w.n + to
		if left := w.latest[pair].Sub(now); left > 0 {
			w.cut[pair] = now.Add(mono.Duration(w.tape.r.Int64N(int64(left) + 1)))
		}
	}
}

func (w *network) lost(from, to int, at mono.Time) bool {
	cut := w.cut[from*w.n+to]
	return cut != 0 && at > cut
}
