// Package watchserver lets programs outside the job follow which of its processes are alive. It
// is the server of package fd/watch, whose documentation has the protocol. The launcher passes
// events to the Post, and the Post sends them to all watchers.
//
//	launcher              Post                                 programs
//	Tell(event)       --> number, census, a queue each     --> watchers: snapshot, then each event once
//	                      pidfd of the registered process <--  register "indexer"
//	strangers(event)  <-- its end is an event for all      --> watchers
//
// Invariants:
//
//   - Events have the numbers 1, 2, 3 ... in the order of the calls. A watcher receives its
//     snapshot and then each event with a number above the snapshot's, once, in order: one
//     lock orders snapshots and events.
//   - A watcher never blocks the Post. Its unread events are queued, up to behindMax. Then
//     the watcher is cut off: it receives no more events, and its last line reports the cut.
//   - Clients that write nonsense, send nothing, or connect a thousand times cost a bounded
//     number of connections, of a bounded time and size each. Other users are not served.
//   - A stranger, which is a process outside the job, is watched once it has registered. The
//     Post holds a pidfd, which refers to that one process for ever. The stranger may close
//     its connection, and its pid may be reused.
//
// Not promised: that a watcher receives the last events when the process of the Post is killed.
// The folder of the Post then stays until the next Post is made. Nor is anything promised between
// machines: the socket is reachable on this machine only.
//
// Reading order of the files: event, census, post, client, request, stranger, folder.
package watchserver
