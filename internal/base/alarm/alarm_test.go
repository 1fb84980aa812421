package alarm

import (
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
		var rang []time.Duration
		f := func() {
			a.Rang()
			rang = append(rang, time.Since(begun))
		}
		a.Set(0, false, now, f)
		a.Set(10, true, now, f)
		a.Set(20, true, now, f) // the first one stays
		a.Set(5, true, now, f)
		time.Sleep(100)
		assert.Equal(t, []time.Duration{5}, rang)
		a.Set(200, true, now, f)
		a.Set(0, false, now, f)
		time.Sleep(200)
		assert.Len(t, rang, 1, "it was taken back")
		a.Set(1, true, now, f) // in the past
		synctest.Wait()
		assert.Equal(t, []time.Duration{5, 300}, rang)
	})
}
