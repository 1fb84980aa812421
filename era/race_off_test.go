//go:build !race

package era

const raceEnabled = false
