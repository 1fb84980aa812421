//go:build !sabotage

package must

// Sabotage says whether this build can leave rules out on purpose, to show that
// the checks notice. It can with the build tag "sabotage".
const Sabotage = false
