// Package publish stores a word after all earlier stores, without a wait until others see the word.
// Fence is this wait, for a later load that must not be executed before the store. FenceAll makes
// all other processes wait. Go's atomic stores include the wait: on amd64 they are locked
// instructions, which take until this processor owns the cache line.
package publish
