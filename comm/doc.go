// Package comm is what programs import first: processes, communicators, messages
// between two of them, and what ULFM adds for the case that a process dies.
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
// A process that dies takes nobody with it. An operation that cannot complete
// because of it returns an error that Is ErrProcFailed; operations that do
// not need it go on. So members may see different things, and a program that wants to
// repair ends every stretch of its work, good or bad, in one agreement at one place:
//
//	ok, lost := c.AllOK(ctx, err)     // err of the stretch; the same answer at all live members
//	if !ok || lost != nil {
//		c, err = c.Shrink(ctx)    // all live members, in the old order
//	}
//
// What a stretch made counts if ok. A member that leaves it in another way, by a return or
// by a Shrink of its own, leaves the others waiting for it. Agree is the agreement alone;
// Recoverable tells failures from a wrong argument. examples/circle is a whole program.
//
// In uniform mode (SetUniform, Config.Uniform) nobody has to call Revoke: the first
// failure of a member revokes the communicator by itself, and every rank is told.
//
// # Communicators
//
// Dup, Split, SplitNode, Create, and with a topology Cart, Graph and DistGraph, are
// collective over a communicator and make another one, at every live member or at
// none. CreateGroup takes the members of a group alone. An Intercomm connects two
// groups, and Merge makes one of them.
//
// # Errors
//
// Every error of an operation is a *Error that names the operation, the
// communicator and the ranks, and wraps its class: errors.Is finds it. A wrong
// argument gives an error, never a panic, and the communicator still works.
//
// # Contexts
//
// Every call that may wait takes a context. A receive that is cancelled is
// withdrawn; a send that is cancelled is withdrawn unless it has matched, then it
// completes; a cancelled Agree, Shrink or creation gives up only the wait, or has not
// begun (ErrNotBegun). The error names the ranks that were waited for.
//
// # Goroutines
//
// Any number of goroutines may call at once. Nothing is package state. Agreements, what makes
// communicators, and collectives are numbered by the calls of this rank on a communicator:
// where several goroutines make the same call on one, it does not matter which of them meets
// which of another rank; where they make different calls their order is the program's, the
// same at all ranks. If it is not, agreements and creations end with ErrMismatch, and
// collectives as package collectives says of members that call different ones.
package comm
