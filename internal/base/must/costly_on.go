//go:build invariants

package must

// Costly reports whether checks that cost more than a few instructions run. They do with the build
// tag "invariants".
const Costly = true
