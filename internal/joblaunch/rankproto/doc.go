// Package rankproto defines the messages between a rank and the daemon of its node: one type for
// each message, its encoding, and a decoder that bounds and checks the input.
//
// The lifeline is a stream socket that a rank inherits. Its end reports to either side that the
// other side has ended. Each message is one line of JSON:
//
//	{"what":"silent","atNs":81230000123,"body":{"procs":[3]}}
//
//	| field | meaning                                                                |
//	| what  | the type of the message                                                |
//	| atNs  | when it was made: CLOCK_MONOTONIC of the machine, in ns                |
//	| body  | its fields                                                             |
//
// A program may write any bytes to its lifeline. So a line is at most MaxBytes long, and each
// process number is one that the job has. A line that is none of the messages for this side is an
// error, after which the side reads nothing more. The daemon then closes the lifeline, which ends
// the rank and never the daemon.
//
// Not promised: that a message arrives. A rank that is killed during a write leaves the beginning
// of a line, which is the end of the stream like any other.
//
// Reading order: messages.go (the messages), encode.go, decode.go.
package rankproto
