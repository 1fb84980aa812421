//go:build race

package collectives_test

// raced: sync.Pool drops at random under the race detector.
const raced = true
