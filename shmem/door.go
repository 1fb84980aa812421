package shmem

import (
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/bridge"
)

// door leads into package comm.
var door = bridge.Through[comm.Comm, comm.Intercomm, comm.Request, comm.Config]()
