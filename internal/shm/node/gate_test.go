package node

import (
	"testing"

	"github.com/goulfm/goulfm/internal/net/rmaserver"
)

// TestGateInEveryOrder visits each order of single accesses of a server and of a reader. The reader
// learns of the origin's death from the daemon or earlier. The server may die between any two
// accesses. The data that the reader sees must not change any more.
func TestGateInEveryOrder(t *testing.T) {
	inEveryOrder(t, func(w *window, _ *rmaserver.Target) (serves, reads func()) {
		serves = func() {
			if admit(w, target, gone) {
				for i := range w.data {
					w.Step("stores")
					w.data[i]++
				}
				w.SetServing(target, -1)
			}
		}
		reads = func() {
			w.learns(mender)
			w.Step("reads")
			first := w.data
			w.Saw(first)
			w.Step("reads again")
			if w.data != first {
				w.Failf("%v changes to %v", first, w.data)
			}
		}
		return serves, reads
	})
}
