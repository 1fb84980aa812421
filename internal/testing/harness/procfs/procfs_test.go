package procfs

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRSS(t *testing.T) {
	assert.EqualValues(t, 1234, rss("Name:\tx\nVmPeak:\t  9 kB\nVmRSS:\t  1234 kB\n"))
	assert.Zero(t, rss(""))
	if _, err := os.Stat("/proc/self/status"); err != nil {
		assert.Zero(t, RSS(os.Getpid()))
		return
	}
	assert.Positive(t, RSS(os.Getpid()))
	before := Descriptors(os.Getpid())
	f, err := os.Open(os.DevNull)
	assert.NoError(t, err)
	assert.Equal(t, before+1, Descriptors(os.Getpid()))
	assert.NoError(t, f.Close())
	assert.Zero(t, Descriptors(-1))
}
