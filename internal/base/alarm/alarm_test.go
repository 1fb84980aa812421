package alarm

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/mono"
)

func TestAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		now := func() mono.Time { return mono.Time(time.Since(begun)) }
		var a Alarm
		var mu sync.Mutex
		var rang []time.Duration
		f := func() {
			mu.Lock()
			defer mu.Unlock()
			a.Rang()
			rang = append(rang, time.Since(begun))
		}
		set := func(at mono.Time, ok bool) {
			mu.Lock()
			defer mu.Unlock()
			a.Set(at, ok, now, f)
		}
		heard := func(after time.Duration) []time.Duration {
			time.Sleep(after)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(rang)
		}
		set(0, false)
		set(10, true)
		set(20, true) // the first one stays
		set(5, true)
		assert.Equal(t, []time.Duration{5}, heard(100))
		set(200, true)
		set(0, false)
		assert.Len(t, heard(200), 1, "it was taken back")
		set(1, true) // in the past
		assert.Equal(t, []time.Duration{5, 300}, heard(0))
	})
}
