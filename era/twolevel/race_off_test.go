//go:build !race

package twolevel

const raceEnabled = false
