// Package commhooks gives packages of this module that build on package comm access to its
// internals: collectives, comm/commtest, and tests of the internals. No other package does.
//
// # Problem
//
// Those packages need internals that programs must not use: the engine under a communicator, the
// ranks of an intercommunicator's union, the request of an operation that comm does not know. As
// methods of comm.Comm these would be part of the documentation of programs, with types that
// programs cannot name, and each change of the engine would change the published API.
//
// # Design
//
// comm opens a Door once, when the package is initialized (comm/bridge.go). A sibling stores the
// result of Through in a package variable. This variable is initialized after comm, because the
// sibling imports comm. Door has the types of comm as type parameters, since comm imports this
// package and not the other way round.
//
// # Not promised
//
// Programs are promised nothing: each part of this package may change.
package commhooks

import (
	"log/slog"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
)

// Door holds the functions that comm opens to its siblings. C is comm.Comm, I is comm.Intercomm, R
// is comm.Request, and S is comm.Config. A communicator that is passed must not be nil, except
// where a function allows nil.
type Door[C, I, R, S any] struct {
	// Settings returns the engine's configuration for the fields that a program has set.
	Settings func(s S) engine.Config

	// World returns the world of a process with a running engine.
	World func(p *engine.Proc) *C

	// WorldOf is World in a job.
	WorldOf func(p *engine.Proc, j Job) *C

	// Engine returns the communicator of the engine that c stands for.
	Engine func(c *C) *engine.Comm

	// Raise passes err through the error handler of c. Packages that add operations to
	// communicators call Raise once for each error that they return.
	Raise func(c *C, err error) error

	// OuterRanks returns the ranks that an error names, as the program knows them: on the
	// union of an intercommunicator those of the local group are left out. c may be nil.
	OuterRanks func(c *C, inner []int) []int

	// Edges is Neighbors with the order in which several edges from one rank are taken, as indexes
	// of in, or nil; ok is false without a topology.
	Edges func(c *C) (in, out, arrivals []int, ok bool)

	// Sides returns a communicator of both groups of ic, and the ranks there of the local and of
	// the remote group, by rank in the group. Messages of the program must not be sent on union.
	Sides func(ic *I) (union *C, local, remote []int)

	// Intercomm makes an intercommunicator of a communicator. Each rank of the communicator is in
	// one of the two groups. All members pass the same arguments.
	Intercomm func(union *C, groupA, groupB []int) *I

	// Request returns the request of an operation that a sibling has started on c. The operation
	// may wait for any member. op is the name of the operation in errors.
	Request func(c *C, h engine.Handle, op string) R

	// NotStarted returns the request of an operation that could not start: its first wait returns
	// err, which has already passed through the error handler.
	NotStarted func(err error) R

	// Family begins a family: c and all communicators that this process makes from c later,
	// directly or indirectly, as far as they are not freed. revoke revokes them all, free frees
	// them.
	Family func(c *C) (revoke, free func())

	// NodeMemory returns the memory of this process's node that outlives processes, in which the
	// ranks of the job's world have homes; nil: this process has none.
	NodeMemory func(c *C) *rankstore.Memory
}

// A Job holds the parts of a process in a job, besides its engine.
type Job struct {
	Starter rankproto.Launcher       // starts processes; nil: no process can be started
	Place   *rankproto.Place         // of a process that was started to have a rank among others; else nil
	Mark    func(name string, n int) // is called when the program reaches a mark; nil: no call
	Memory  *rankstore.Memory        // of its node, which outlives the process; nil: none
	Log     *slog.Logger             // Config.Log of comm
}

// opened is the Door that comm has opened, written only while comm is initialized.
var opened any

// Open is for comm alone.
func Open[C, I, R, S any](d Door[C, I, R, S]) { opened = d }

// Through returns the Door that comm has opened. The call panics for other types than those of
// comm.
func Through[C, I, R, S any]() Door[C, I, R, S] { return opened.(Door[C, I, R, S]) }
