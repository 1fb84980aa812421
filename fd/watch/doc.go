// Package watch tells programs who of a job lives: its processes, its nodes, and other programs
// that have asked to be watched as well. The program that asks is no rank and needs nothing of
// goulfm but this package: a service beside the ranks, a store of checkpoints, a monitor, a program
// of another library that shares the machine.
//
//	goulfm run --watch ./program          the launcher listens, GOULFM_WATCH says where
//	    rank 0, rank 1 ...                inherit the variable
//	        what they start               inherits it, too: Open, Events, Register
//	goulfm watch                          prints events, in a shell with that variable
//
// The launcher learns of ends as package fd and the kernel tell it: the death of a process is
// exact, that of a node a verdict. It tells them in one order to all, and keeps nobody waiting: who
// does not read 1,024 events is cut off (ErrBehind), and may open again.
//
// # Lines
//
// Programs in other languages speak to the socket at GOULFM_WATCH themselves. A client says one
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
// The second gets "registered". Either gets "refused" with the reason as evidence instead, and who
// is too far behind "cut"; the connection is closed after all of these. Who may connect is decided
// by the folder of the socket, which is the user's alone, and by the kernel's word who connects.
//
// # Not promised
//
// Anything from another machine than the launcher's: the socket is there. Nor that a member which
// is not heard of lives: a node's silence is an event only when somebody has decided what it means.
// A suspicion may be refuted, which nobody tells: Lost follows if it was right.
//
// Reading order: event.go, watcher.go.
package watch
