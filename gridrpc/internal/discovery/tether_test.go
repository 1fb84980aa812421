package discovery

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// hold returns a tethered process, and the other end of its tether.
func hold(t *testing.T, kind string) (process context.Context, by *io.PipeWriter) {
	from, by := io.Pipe()
	t.Cleanup(func() { by.Close() })
	return Hold(t.Context(), kind, from), by
}

// TestTetherEnds: a tether of either kind ends with its holder.
func TestTetherEnds(t *testing.T) {
	for _, kind := range []string{TetherEnds, TetherBeats} {
		process, by := hold(t, kind)
		assert.NoError(t, process.Err())
		assert.NoError(t, by.Close())
		<-process.Done()
	}
}

// TestTetherIsSilent, in virtual time: a process stays as long as beats arrive. Without beats it
// ends after beatSilence, give or take the interval of a check. A tether of kind "ends" needs no
// beats.
func TestTetherIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		process, by := hold(t, TetherBeats)
		deaf, held := hold(t, TetherEnds)
		lossy, gate := io.Pipe() // the beats of a day get through, and no more: the network is cut
		go Beat(gate)
		day := time.Now().Add(24 * time.Hour)
		var buf [1]byte
		for time.Now().Before(day) {
			_, err := lossy.Read(buf[:])
			assert.NoError(t, err)
			_, err = by.Write(buf[:])
			assert.NoError(t, err)
		}
		assert.NoError(t, process.Err())
		cut := time.Now()
		<-process.Done()
		assert.InDelta(t, beatSilence.Seconds(), time.Since(cut).Seconds(), (beatSilence / beatLooks).Seconds())
		assert.NoError(t, deaf.Err())
		assert.NoError(t, held.Close())
		<-deaf.Done()
		assert.NoError(t, by.Close())
		assert.NoError(t, lossy.Close()) // Beat ends
	})
}
