// Package commhooks is the one door between package comm and the packages of this module that
// build on it: collectives, comm/commtest, and tests of the internals.
//
// # Problem
//
// Those packages need what programs must not use: the engine under a communicator, the
// ranks of an intercommunicator's union, the request of an operation that comm does not
// know. As methods of comm.Comm these would stand among what programs read, with types that
// programs cannot name, and each change of the engine would change the published surface.
//
// # What is where
//
// comm opens the door once, when the package is initialized (comm/bridge.go); a sibling goes
// Through it in a package variable, which is initialized after comm is, because the sibling
// imports comm. Door has the types of comm as type parameters, since comm imports this
// package and not the other way round.
//
// # What is not promised
//
// Anything to programs: nothing here stays as it is.
package commhooks

import (
	"log/slog"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
)

// Door is what comm opens to its siblings. C is comm.Comm, I is comm.Intercomm, R is
// comm.Request, and S is comm.Config. Functions that take a communicator want one that is
// not nil.
type Door[C, I, R, S any] struct {
	// Settings returns what the fields that a program has set are to the engine.
	Settings func(s S) engine.Config

	// World returns the world of a process whose engine runs already.
	World func(p *engine.Proc) *C

	// WorldOf is World in a job.
	WorldOf func(p *engine.Proc, j Job) *C

	// Engine returns the communicator of the engine that c stands for.
	Engine func(c *C) *engine.Comm

	// Raise passes err through the error handler of c. Packages that add operations to
	// communicators call it once for each error that they return.
	Raise func(c *C, err error) error

	// OuterRanks returns the ranks that an error names, as the program knows them: on the
	// union of an intercommunicator those of the local group are left out. c may be nil.
	OuterRanks func(c *C, inner []int) []int

	// Edges is Neighbors with the order in which several edges from one rank are taken, as
	// places of in, or nil; ok is false without a topology.
	Edges func(c *C) (in, out, arrivals []int, ok bool)

	// Sides returns a communicator of both groups of ic, and the ranks there of the local
	// and of the remote group, by rank in the group. Messages of the program must not go
	// over it.
	Sides func(ic *I) (union *C, local, remote []int)

	// Intercomm makes an intercommunicator of a communicator, each of whose ranks is in one
	// of two groups. All members pass the same.
	Intercomm func(union *C, groupA, groupB []int) *I

	// Request is the request of an operation that a sibling has started on c, of which
	// any member may be waited for. op is what its errors call it.
	Request func(c *C, h engine.Handle, op string) R

	// NotStarted is the request of an operation that could not start: its first wait
	// returns err, which has been through the error handler.
	NotStarted func(err error) R

	// Family begins a family: c and all communicators that will be made from it here, however
	// far down, as far as they are not freed. revoke revokes them all, free frees them.
	Family func(c *C) (revoke, free func())

	// NodeMemory returns the memory of this process's node that outlives processes, in which the
	// ranks of the job's world have homes; nil: there is none for this process.
	NodeMemory func(c *C) *rankstore.Memory
}

// A Job is what a process has beside its engine.
type Job struct {
	Starter rankproto.Launcher       // starts processes; nil: nobody does
	Place   *rankproto.Place         // of a process that was started to have a rank among others; else nil
	Mark    func(name string, n int) // is called when the program reaches a point; nil: nothing is
	Memory  *rankstore.Memory        // of its node, which outlives it; nil: there is none
	Log     *slog.Logger             // Config.Log of comm
}

// opened is the Door that comm has opened. It is written while comm is initialized, and
// never again.
var opened any

// Open is for comm alone.
func Open[C, I, R, S any](d Door[C, I, R, S]) { opened = d }

// Through returns what comm has opened. It panics for other types than those of comm.
func Through[C, I, R, S any]() Door[C, I, R, S] { return opened.(Door[C, I, R, S]) }
