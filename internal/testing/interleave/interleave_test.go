package interleave

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counting is a world of two actors that each add one to a number by a load and a store.
func counting(end func(n int) error) func(w *World) {
	return func(w *World) {
		n := 0
		for _, name := range []string{"a", "b"} {
			w.Go(name, func() {
				w.Step("loads")
				v := n
				w.Saw(v)
				w.Step("stores")
				n = v + 1
			})
		}
		w.State = func() string { return fmt.Sprint(n) }
		w.End = func() error { return end(n) }
	}
}

// TestEveryOrderIsVisited: two increments that are not atomic give one and two.
func TestEveryOrderIsVisited(t *testing.T) {
	results := map[int]bool{}
	states, err := Visit(1000, counting(func(n int) error { results[n] = true; return nil }))
	require.NoError(t, err)
	assert.Equal(t, map[int]bool{1: true, 2: true}, results)
	assert.Greater(t, states, 10)
}

// TestFailureNamesItsSteps: the error shows the order that fails.
func TestFailureNamesItsSteps(t *testing.T) {
	_, err := Visit(1000, counting(func(n int) error {
		if n == 1 {
			return fmt.Errorf("an increment is lost")
		}
		return nil
	}))
	require.ErrorContains(t, err, "an increment is lost")
	assert.Regexp(t, `(?s)(a: loads.*b: loads.*a: stores|b: loads.*a: loads.*b: stores)`, err.Error())
	_, err = Visit(5, counting(func(int) error { return nil }))
	assert.ErrorContains(t, err, "more than 5 states")
}

// TestDeathBeforeEachStep: a mortal actor dies before each of its steps, and its effects stay.
func TestDeathBeforeEachStep(t *testing.T) {
	results := map[string]bool{}
	_, err := Visit(1000, func(w *World) {
		done, dead, told := 0, false, false
		w.Go("a", func() {
			for range 3 {
				w.Step("goes on")
				done++
			}
		}).Mortal(func() { dead = true })
		w.Event("news", func() { told = true })
		w.State = func() string { return fmt.Sprint(done, dead, told) }
		w.End = func() error { results[w.State()] = true; return nil }
	})
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"0 true true": true, "1 true true": true, "2 true true": true, "3 false true": true}, results)
}

// TestWaits: an actor that waits for ever is an error, unless it may wait; Again goes on after a
// step of another actor; a panic of an actor is an error.
func TestWaits(t *testing.T) {
	world := func(free, mayWait bool) func(w *World) {
		return func(w *World) {
			open := false
			a := w.Go("a", func() {
				for !open {
					w.Again("looks")
				}
			})
			if mayWait {
				a.MayWait()
			}
			w.Go("b", func() { open = free })
			w.State = func() string { return fmt.Sprint(open) }
		}
	}
	_, err := Visit(1000, world(true, false))
	assert.NoError(t, err)
	_, err = Visit(1000, world(false, false))
	assert.ErrorContains(t, err, "a waits for ever: looks")
	_, err = Visit(1000, world(false, true))
	assert.NoError(t, err)
	_, err = Visit(1000, func(w *World) {
		w.Go("a", func() { panic("out of range") })
		w.State = func() string { return "" }
	})
	assert.ErrorContains(t, err, "a: out of range")
}

// TestLoops: two actors that wait for each other for ever, and forget their turns, are visited to
// their end; if they do not forget, that is an error.
func TestLoops(t *testing.T) {
	for _, forgets := range []bool{true, false} {
		_, err := Visit(1000, func(w *World) {
			open := false
			for _, name := range []string{"a", "b"} {
				w.Go(name, func() {
					for !open {
						if forgets {
							w.Forget("waits")
						}
						w.Again("looks")
					}
				})
			}
			w.Event("opens", func() { open = true })
			w.State = func() string { return fmt.Sprint(open) }
		})
		if forgets {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, "a loop must Forget its turns")
		}
	}
}
