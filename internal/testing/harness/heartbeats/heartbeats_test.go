package heartbeats

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestBetweenNodes(t *testing.T) {
	assert.Equal(t, "--host 3 --ppn 1 --link-timeout 10s --orphan-after 30s --period 1ms --timeout-factor 2000", strings.Join(BetweenNodes(3, 1, time.Millisecond), " "))
	assert.Equal(t, "--host 4 --ppn 2 --link-timeout 10h0m0s --orphan-after 10h0m0s --period 1h0m0s --timeout-factor 5", strings.Join(BetweenNodes(4, 2, Off), " "))
}

func TestBetweenRanks(t *testing.T) {
	assert.Equal(t, "--detector ring --period 5ms --timeout-factor 400", strings.Join(BetweenRanks(5*time.Millisecond), " "))
	assert.Equal(t, "--detector ring --period 1s --timeout-factor 4", strings.Join(BetweenRanks(time.Second), " "))
	assert.Empty(t, BetweenRanks(Off))
}
