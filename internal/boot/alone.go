package boot

import (
	"github.com/goulfm/goulfm/internal/transport"
	"github.com/goulfm/goulfm/internal/transport/inproc"
)

// Alone returns the transport of a world of one.
func Alone() transport.End { return inproc.New(1).Port(0) }
