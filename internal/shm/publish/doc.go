// Package publish stores a word after all that was stored before it, without a wait until
// others see it; Fence is that wait, where something is loaded afterwards that must not
// have been loaded before, and FenceAll has all others make it. Go's atomic stores are
// both at once: on amd64 a locked instruction, which takes until the line is this
// processor's.
package publish
