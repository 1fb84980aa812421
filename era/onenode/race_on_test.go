//go:build race

package onenode

const raceEnabled = true
