//go:build !race

package nodecoll

const raceOn = false
