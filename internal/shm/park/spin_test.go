package park

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSpinLearns: a wait polls for as long as Most allows until polling was in vain. After that a
// wait polls for a few times the length of recent waits. After many waits without a sleep Spin
// tries long waits again.
func TestSpinLearns(t *testing.T) {
	s := Spin{Most: 30_000}
	for range 1000 {
		s.Found(40)
	}
	assert.Equal(t, 30_000, s.Polls())
	s.Slept(nil)
	assert.Equal(t, spinLeast, s.Polls(), "what comes soon comes within that")
	for range 10 {
		s.Found(900)
	}
	s.Slept(nil)
	assert.Equal(t, spinFactor*900, s.Polls())
	for range spinTrial {
		s.Found(40)
	}
	assert.Equal(t, 30_000, s.Polls(), "tried again")
	s.Slept(nil)
	assert.Equal(t, spinLeast, s.Polls(), "long waits are forgotten")
}

// TestSpinNeverMore: a bound below the learnt value stays in force.
func TestSpinNeverMore(t *testing.T) {
	s := Spin{Most: 20}
	s.Slept(nil)
	assert.Equal(t, 20, s.Polls())
}

// TestSpinBesideAnother: a process that shares its core polls little until the core is its own.
func TestSpinBesideAnother(t *testing.T) {
	s, shares, asked := Spin{Most: 30_000}, true, 0
	sleep := func() { s.Slept(func() bool { asked++; return shares }) }
	sleep()
	assert.Equal(t, spinCrowded, s.Polls())
	s.Found(10)
	assert.Equal(t, spinCrowded, s.Polls())
	shares = false
	for range spinAsk {
		sleep()
	}
	assert.Equal(t, 2, asked)
	assert.Equal(t, spinLeast, s.Polls())
}
