package adopt

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLateRanksAreWaitedFor: a failed start is not over when those that have come have ended:
// who comes next would start a daemon of its own, and wait a minute for the dead.
func TestLateRanksAreWaitedFor(t *testing.T) {
	s := &server{muster: newMuster("n", 0, time.Second)}
	assert.Nil(t, s.over(), "nobody has come")
	require.NoError(t, s.prepare(2))
	defer s.host.daemon.Close()
	s.muster.Step(came{0, claim{Rank: 0, Size: 2}})
	s.muster.Step(ended{0})
	s.fail()
	assert.Nil(t, s.over(), "rank 1 has not come")
	s.host.daemon.Unexpect(1) // rank 0 has ended
	s.muster.come++           // rank 1 was told
	<-s.over()
}
