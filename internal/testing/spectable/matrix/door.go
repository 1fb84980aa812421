package matrix

import (
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/commhooks"
)

// door gives access to the internals of package comm.
var door = commhooks.Through[comm.Comm, comm.Intercomm, comm.Request, comm.Config]()
