//go:build race

package kernel

// raceDetector says whether this build looks for data races, which it does not
// find in assembly.
const raceDetector = true
