//go:build failpoints

package park

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/internal/base/failpoint"
)

// TestRingerDies: a ringer that rings for three owners dies at its k-th point, for every k. It has
// taken flags away and woken nobody, or has moved sleepers to the assembly, where no ring at their
// own doors finds them. The round that follows the death wakes them all.
func TestRingerDies(t *testing.T) {
	ringers := map[string]func(s Sleeper, d *doors){
		"one by one": func(s Sleeper, d *doors) {
			for i := range d.bells {
				Ring(&d.bells[i], Caller, s)
			}
		},
		"for a flag": func(s Sleeper, d *doors) { d.round(s, func(r *Round, word *uint32) { r.Ring(word, Caller) }) },
		"always":     func(s Sleeper, d *doors) { d.round(s, (*Round).RingAlways) },
	}
	for name, s := range sleepers() {
		for how, ring := range ringers {
			t.Run(name+" "+how, func(t *testing.T) {
				points := 0
				for died := true; died; points++ {
					var over atomic.Bool
					d := asleep(s, 3, &over)
					died = dies(points+1, func() { ring(s, d) })
					over.Store(true)
					d.round(s, (*Round).RingAlways)
					for _, woken := range d.awake {
						<-woken
					}
				}
				if points < 6 {
					t.Errorf("%d points only: this tests nothing", points)
				}
			})
		}
	}
}

func (d *doors) round(s Sleeper, ring func(r *Round, word *uint32)) {
	r := Round{Sleeper: s, Assembly: &d.assembly}
	for i := range d.bells {
		ring(&r, &d.bells[i])
	}
	r.End()
}

// dies runs part on a goroutine that ends at its k-th point, and reports whether the goroutine
// ended there.
func dies(k int, part func()) (died bool) {
	points := 0
	failpoint.On(func(uint64) {
		if points++; points == k {
			died = true
			runtime.Goexit()
		}
	})
	defer failpoint.On(nil)
	end := make(chan struct{})
	go func() {
		defer close(end)
		part()
	}()
	<-end
	return died
}
