// Package pulse is the heartbeats between the processes of a platform: internal/beat, and the
// calls by which an observer reaches the process that it observes.
//
// A process that was killed is known in milliseconds, because its machine refuses
// connections. One that is stopped, or cut off, is known by its silence within the time that was
// asked for. One whose address another process has now is dead.
package pulse
