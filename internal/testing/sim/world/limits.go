package world

import "github.com/goulfm/goulfm/internal/base/mono"

const (
	// Epoch is the time at which a run begins.
	Epoch mono.Time = 1
	// MessageDelay is the typical delay of a message.
	MessageDelay = 10 * mono.Microsecond
	// DepthMax bounds how many generations of communicators a run makes.
	DepthMax = 2
	// Blocks is the number of communicators of a process that can agree in memory at the same
	// time. It is so small that blocks are used again, and that some communicators have none.
	Blocks = 3
)
