// Package watchserver tells programs that are no ranks who of a job lives: it is the other end of
// package fd/watch, whose documentation has the protocol. Whoever knows (the launcher) tells the
// Post, the Post tells all watchers.
//
//	launcher              Post                                 programs
//	Tell(event)       --> number, census, a queue each     --> watchers: snapshot, then each event once
//	                      pidfd of who has registered     <--  register "indexer"
//	strangers(event)  <-- its end is an event for all      --> watchers
//
// Invariants:
//
//   - Events have the numbers 1, 2, 3 ... in the order of Tell, and a watcher gets its snapshot and
//     then each event with a number above the snapshot's, once, in order: both are decided
//     under one lock.
//   - Nobody waits for a watcher. What it has not read is kept, up to behindMax events; then it is
//     cut off: it gets no more, and its last line says so.
//   - Clients that write nonsense, say nothing, or connect a thousand times cost a bounded number of
//     connections, of a bounded time and size each. Other users are not served.
//   - A stranger, which is a process that is none of the job, is watched once it has registered: by a
//     pidfd, which means that one process for ever, not by its connection, which it may close, nor
//     by its number, which another may get.
//
// Not promised: that a watcher hears the last events when the process of the Post is killed; its
// folder stays then, until the next Post is made. Nor anything between machines: the socket is
// reached on this one alone.
//
// Reading order: event.go, census.go, post.go, client.go, request.go, stranger.go, folder.go.
package watchserver
