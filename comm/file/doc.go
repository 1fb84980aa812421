// Package file lets the members of a communicator work on one file together: each writes and reads
// its part of an *os.File, and all members get the same answer on success or failure.
//
//	f, err := file.OpenAll(ctx, w, "field.bin", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
//	...
//	lo, hi := comm.Block(n, w.Size(), w.Rank())
//	err = file.WriteAtAll(ctx, w, f, field[:hi-lo], int64(8*lo))
//	err = errors.Join(err, file.CloseAll(ctx, w, f))
//
// # Problem
//
// A file that one rank could not write is bad for all ranks, but only that rank knows of the error.
// A rank that opens the file before the file was created and truncated finds no file, or loses the
// data that it has written.
//
// # Promises
//
//   - Every call of this package is collective, and ends in an agreement (Comm.Agree): success, or
//     an error of one class, at all live members. ReadAt and WriteAt of the file itself are not
//     collective.
//   - Rank 0 alone creates and truncates, before any other member opens the file.
//   - After a call has succeeded, the parts of all members are complete: a ReadAt of any member
//     returns the data that another member has written. After SyncAll and CloseAll the file is on
//     the disk.
//   - A member that dies in a call makes it fail with comm.ErrProcFailed at all survivors, unless
//     all have acknowledged its death. The survivors can continue as after any Agree.
//
// # Errors
//
// Each error is a *comm.Error, which lists the ranks with an error if the communicator has at most
// 40 members. If several members fail in different ways, all get the class that stands first in
// this list, and each its own error besides:
//
//	fs.ErrNotExist, fs.ErrExist, fs.ErrPermission     as of package os
//	syscall.ENOSPC                                    no space on the device
//	io.ErrUnexpectedEOF                               a read behind the end of the file
//	fs.ErrInvalid, fs.ErrClosed                       no file, or one that is closed
//	comm.ErrType                                      elements that have no bytes (comm.Bytes)
//	comm.ErrRevoked                                   a member knew that the communicator is revoked
//	ErrMember                                         anything else
//
// comm.ErrMismatch, at all members, means that members made different calls of this package.
// comm.ErrNotBegun means that the context had ended before the agreement: the others wait for
// another call of this member. If the context had ended before the call, this member has done
// nothing. If the context ended while this member read, wrote or closed, that part is done
// nevertheless. A context that ends later ends only the wait.
//
// # Not promised
//
//   - An unchanged file after an error: parts may have been written. Write to another name, and
//     rename the file after CloseAll.
//   - Order between parts that overlap.
//   - More than the file system provides: members on several machines need a file system that shows
//     them the same bytes.
//   - A portable format: elements are written as they lie in memory, for machines of one
//     architecture.
package file
