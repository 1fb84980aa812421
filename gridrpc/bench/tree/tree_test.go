package main

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEventLog: the detection is the first loss of a killed agent, and the end is the last list
// that makes the chain whole, in a chain of five whose second and third agents die. The last lines
// of the dead do not count.
func TestEventLog(t *testing.T) {
	p := &platform{known: 2, names: []string{"ma", "a1", "a2", "a3", "a4"}, all: map[string]*member{}}
	p.more = sync.NewCond(&p.mu)
	for _, name := range p.names {
		p.all[name] = &member{}
	}
	hear := func(lines ...string) (whole bool) {
		for _, line := range lines {
			p.hear(strings.Fields(line))
		}
		return p.isWhole()
	}
	assert.False(t, hear("+0.1s a3 is process 17", "noise", "a9: trace 1 knows x", "a1: trace 1 knows ma", "a2: trace 2 knows a1 ma", "a3: trace 3 knows a2 a1"))
	assert.True(t, hear("a4: trace 4 knows a3 a2"))
	assert.Equal(t, 17, p.all["a3"].pid)
	p.all["a2"].dead, p.all["a3"].dead = true, true
	assert.False(t, hear())
	assert.False(t, hear("a2: trace 5 lost a3", "a4: trace 9 lost a3", "a1: trace 8 lost a2", "a1: trace 7 lost ma", "a4: asks who is the root", "a4: trace 10 knows a1 a2"))
	assert.True(t, hear("a4: trace 11 knows a1 ma"))
	assert.Equal(t, []time.Time{time.Unix(0, 8), time.Unix(0, 11)}, []time.Time{p.first, p.latest})
	assert.Equal(t, 1, p.asked)
}

// TestVictims: in the worst case the agents above the lowest one die. Neither end of the chain ever
// dies.
func TestVictims(t *testing.T) {
	assert.Equal(t, []int{30, 29, 28}, victims(rand.New(rand.NewPCG(1, 1)), 32, "worst", 3))
	for seed := range uint64(50) {
		seen := map[int]bool{}
		for _, v := range victims(rand.New(rand.NewPCG(seed, 1)), 8, "random", 6) {
			assert.True(t, 1 <= v && v <= 6)
			seen[v] = true
		}
		assert.Len(t, seen, 6)
	}
}

// TestNumbers: a list of numbers is read; without one all numbers up to a bound are used.
func TestNumbers(t *testing.T) {
	list, err := numbers("4,1", 9)
	require.NoError(t, err)
	assert.Equal(t, []int{4, 1}, list)
	list, err = numbers("", 3)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 3}, list)
	_, err = numbers("1,,2", 3)
	assert.Error(t, err)
}
