package boot

import (
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
)

// Alone returns the transport of a program that runs as a single rank.
func Alone() transport.End { return inproc.New(1).Port(0) }
