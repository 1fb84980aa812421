package main

import (
	"errors"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// handlerRevokes is the index of the handler that revokes.
const handlerRevokes = 2

// handlers are the error handlers of programs; the first is no handler.
var handlers = []func(m *machine, g *group, err error){
	nil,
	func(*machine, *group, error) {},
	func(m *machine, g *group, err error) { // like a library that gives up at once
		if errors.Is(err, ulfm.ErrProcFailed) {
			m.revoke(g)
		}
	},
	func(_ *machine, g *group, err error) {
		if errors.Is(err, ulfm.ErrProcFailed) {
			_ = g.c.FailureAck()
		}
	},
}

// handle gives a communicator the error handler of the round.
func (m *machine) handle(g *group) {
	f := handlers[m.r.handler]
	if f == nil || g.c == nil {
		return
	}
	c := g.c
	c.SetErrorHandler(func(of *comm.Comm, err error) error {
		if of == c { // not a communicator that has just been made of c
			f(m, g, err)
		}
		return err
	})
}
