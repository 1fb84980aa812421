//go:build !race

package edits

const raceEnabled = false
