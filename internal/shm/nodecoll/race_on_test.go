//go:build race

package nodecoll

const raceOn = true
