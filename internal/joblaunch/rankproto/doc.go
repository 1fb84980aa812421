// Package rankproto has the messages between a rank and the daemon of its node: one type for
// each, its bytes, and a decoder that bounds and checks what comes.
//
// The lifeline is a stream socket that a rank inherits. Its end tells either side that the
// other is gone. Each message is one line of JSON:
//
//	{"what":"silent","atNs":81230000123,"body":{"procs":[3]}}
//
//	| field | meaning                                                                |
//	| what  | the type of the message                                                |
//	| atNs  | when it was made: CLOCK_MONOTONIC of the machine, in ns                |
//	| body  | its fields                                                             |
//
// A program may write to its lifeline what it likes. So a line is at most MaxBytes long, each
// number of a process is one that the job has, and what is none of the messages that this
// side hears is an error, after which nothing more is read: the lifeline is closed, which
// ends the rank and never the daemon.
//
// Not promised: that a message arrives. A rank that is killed while it writes leaves the
// beginning of a line, which is the end of the stream like any other.
//
// Reading order: messages.go (what is said), encode.go, decode.go.
package rankproto
