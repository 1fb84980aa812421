// Package watch lets programs outside the job follow which of its members are alive: its processes,
// its nodes, and other programs that have asked to be watched as well. The watching program is no
// rank and needs nothing of goulfm but this package: a service beside the ranks, a store of
// checkpoints, a monitor, a program of another library that shares the machine.
//
//	goulfm run --watch ./program          the launcher listens, GOULFM_WATCH says where
//	    rank 0, rank 1 ...                inherit the variable
//	        what they start               inherits it, too: Open, Events, Register
//	goulfm watch                          prints events, in a shell with that variable
//
// The launcher learns of ends from package fd and the kernel: the death of a process is exact, that
// of a node a declaration. It sends the events in one order to all watchers, and never waits for a
// slow watcher: a program that leaves 1,024 events unread is cut off (ErrBehind), and may open
// again.
//
// # Lines
//
// Programs in other languages speak to the socket at GOULFM_WATCH themselves. A client sends one
// line of JSON, of at most 1,024 bytes:
//
//	{"v":1,"what":"watch"}
//	{"v":1,"what":"register","name":"indexer"}
//
// The first gets lines, of at most 64 KiB, until the job is over:
//
//	{"v":1,"seq":7,"what":"present","proc":0,"node":0,"evidence":"pid 4711","atNs":81230000123}
//	{"v":1,"seq":7,"what":"complete","proc":-1,"node":-1,"atNs":0}
//	{"v":1,"seq":8,"what":"died","proc":0,"node":0,"evidence":"killed (SIGKILL)","atNs":81730000456}
//	{"v":1,"seq":9,"what":"over","proc":-1,"node":-1,"evidence":"...","atNs":81740000789}
//
// The second gets "registered". Either gets "refused" with the reason as evidence instead, and a
// client too far behind gets "cut"; the connection is closed after all of these. Access is limited
// by the folder of the socket, which is the user's alone, and by the user id that the kernel
// reports for each connection.
//
// # Not promised
//
// Anything from another machine than the launcher's: the socket is there. Nor that a silent member
// lives: a node's silence is an event only after a decision about its meaning. A suspicion may be
// refuted without an event; Lost follows if the suspicion was right.
//
// Reading order: event.go, watcher.go.
package watch
