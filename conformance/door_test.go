package conformance_test

import (
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/commhooks"
)

// door leads into package comm.
var door = commhooks.Through[comm.Comm, comm.Intercomm, comm.Request, comm.Config]()
