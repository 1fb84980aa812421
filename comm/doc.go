// Package comm provides the processes and communicators of a job, messages between two processes,
// and the ULFM operations for the case that a process dies. Every program imports it first.
//
//	comm.Main(func(ctx context.Context, w *comm.Comm) error {
//		next, prev := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
//		token := []int{w.Rank()}
//		_, err := comm.SendRecvReplace(ctx, w.To(next), w.From(prev), token)
//		return err
//	})
//
// Messages are slices of numbers, bools, or records of them (Elem); SendValue takes any
// value that gob can encode.
//
// # Failures
//
// The death of a process ends no other process. An operation that cannot complete because of the
// death returns an error that Is ErrProcFailed; operations that do not need the dead process
// continue. Members may therefore see different results. A program that repairs its communicator
// divides its work into stretches, such as the steps of a loop. It ends every stretch, successful
// or not, in one agreement at one place:
//
//	ok, lost := c.AllOK(ctx, err)     // err of the stretch; the same answer at all live members
//	if !ok || lost != nil {
//		c, err = c.Shrink(ctx)    // all live members, in the old order
//	}
//
// The results of a stretch count if ok. A member that leaves a stretch in another way, by a return
// or by a Shrink of its own, keeps the others waiting. Agree is the agreement alone; Recoverable
// distinguishes failures from a wrong argument. examples/circle is a whole program.
//
// In uniform mode (SetUniform, Config.Uniform) the program need not call Revoke: the first failure
// of a member revokes the communicator, and every rank gets an error.
//
// # Communicators
//
// Dup, Split, SplitNode, Create, and with a topology Cart, Graph and DistGraph, are collective over
// a communicator and create another communicator, at every live member or at none. CreateGroup
// takes the members of a group alone. An Intercomm connects two groups, and Merge makes one
// communicator of both.
//
// # Errors
//
// Every error of an operation is a *Error that names the operation, the communicator and the ranks,
// and wraps its class for errors.Is. WaitAll, WaitSome, TestAll and TestSome return a *MultiError
// of such errors. A wrong argument gives an error, never a panic, and leaves the communicator
// usable.
//
// # Contexts
//
// Every call that may wait takes a context. A cancelled receive is withdrawn if no message has
// matched, and completes otherwise. A cancelled send is withdrawn if no receive has matched, and
// completes otherwise. A cancelled Agree, Shrink or creation either abandons only the wait or has
// not begun (ErrNotBegun); Spawn and Replace describe an exception for rank 0. The error names the
// ranks that the call waited for. A receive from Any, a Spawn and a Replace name no ranks.
//
// # Goroutines
//
// Any number of goroutines may make calls at once. The only global state is the world of Init: a
// process has one. Agreements, creations of communicators except CreateGroup, and collectives are
// numbered by the calls of this rank on a communicator. Several goroutines that make the same call
// on a communicator may therefore match the calls of another rank in any order. If they make
// different calls, the program must give these calls the same order at all ranks. If the orders
// differ, agreements and creations end with ErrMismatch, and collectives end as package collectives
// describes for members that call different collectives.
package comm
