//go:build race

package kernel

// raceDetector reports whether this build has the race detector, which does not
// find races in assembly.
const raceDetector = true
