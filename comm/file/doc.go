// Package file has the members of a communicator work on one file together: each writes and
// reads its part of an *os.File, and whether that went well is one answer for all.
//
//	f, err := file.OpenAll(ctx, w, "field.bin", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
//	...
//	lo, hi := comm.Block(n, w.Size(), w.Rank())
//	err = file.WriteAtAll(ctx, w, f, field[:hi-lo], int64(8*lo))
//	err = errors.Join(err, file.CloseAll(ctx, w, f))
//
// # Problem
//
// A file that one rank could not write is bad for all of them, but only that rank knows. And
// whoever opens the file before it was created and truncated finds none, or loses what it
// has written.
//
// # What is promised
//
//   - Every call but ReadAt and WriteAt of the file itself is collective, and ends in an
//     agreement (Comm.Agree): success, or an error of one class, at all live members.
//   - Rank 0 alone creates and truncates, before any other member opens the file.
//   - After a call has succeeded, what all members did in it has been done: a part that was
//     written is there for a ReadAt of any member. After SyncAll and CloseAll the file is on
//     the disk.
//   - A member that dies in a call makes it fail with comm.ErrProcFailed at all survivors,
//     unless all have acknowledged its death; they can go on as after any Agree.
//
// # Errors
//
// Each is a *comm.Error, whose ranks are those that met it, where the communicator has at
// most 40 members. If several members fail in different ways all get the class that stands
// first in this list, and each its own error besides:
//
//	fs.ErrNotExist, fs.ErrExist, fs.ErrPermission     as of package os
//	syscall.ENOSPC                                    no space on the device
//	io.ErrUnexpectedEOF                               a read behind the end of the file
//	fs.ErrInvalid, fs.ErrClosed                       no file, or one that is closed
//	comm.ErrType                                      elements that have no bytes (comm.Bytes)
//	comm.ErrRevoked                                   a member knew that the communicator is revoked
//	ErrMember                                         anything else
//
// comm.ErrMismatch, at all, says that members made different calls of this package. With
// comm.ErrNotBegun, of a context that was over at the call, this member has done nothing, and
// the others wait for it; a context that ends later ends only the wait.
//
// # What is not promised
//
//   - That a file is unchanged after an error: parts may have been written. Write to another
//     name, and rename it after CloseAll.
//   - Order between parts that overlap.
//   - More than the file system does: members on several machines need one that shows them
//     the same bytes.
//   - Elements are written as they lie in memory: for machines of one architecture.
package file
