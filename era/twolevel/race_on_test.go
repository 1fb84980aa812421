//go:build race

package twolevel

const raceEnabled = true
