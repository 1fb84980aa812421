package server

import (
	"log"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Call is one attempt of a call, for its body.
type Call struct {
	ID      string // of the call, the same for all attempts
	Attempt int    // from 1
	Log     *log.Logger

	attempt *attempt
	server  *Server
	ckpt    checkpoints
	known   string // key of a checkpoint that the client knows of
}

func (s *Server) newCall(m *pb.Submit, a *attempt) *Call {
	return &Call{ID: a.call.Text(), Attempt: int(m.Attempt), Log: s.log, attempt: a, server: s, known: m.GetManifest().GetKey()}
}

// Server returns the name of the server that the body runs at.
func (c *Call) Server() string { return c.server.me.Name }

// Progress reports the progress of the body to the caller.
func (c *Call) Progress(done, total float64, text string) {
	c.attempt.update(func() { c.attempt.progress = &pb.Progress{Done: done, Total: total, Text: readable(text)} })
}
