// Package rendezvous holds the rules of long messages: two processes agree on the time at which the
// payload of a message is sent, and on the time at which each buffer is returned to its program.
//
// # Problem
//
// A long message is not pushed to a receiver that may have no room for it. The sender announces the
// message; the payload stays in the buffer of the sending program until a receive matches. So two
// buffers belong to the library for a while, one at each side, and either side may need its buffer
// back: a call's context ends, a communicator is revoked, a process dies.
//
//	sender                            receiver
//	Announce --data lane-->           kept until a receive matches it
//	         <--control lane-- Grant  matched: Limit bytes fit
//	Chunk    --data lane-->           copied to their place
//	Chunk    --data lane-->           the last one: the receive is over
//	the send is over with the last chunk
//
// Three more kinds of frames end a message early. Withdraw, from the sender, requests an
// announcement back; Withdrawn answers that no receive had matched it, a Grant that one had.
// Refuse, from the receiver, means that the communicator is freed or revoked. Gone, from the
// sender, means that the send which a Grant named is over, or ends before its last chunk.
//
// # The two lanes
//
// Frames of one lane arrive in order; there is no order between the two lanes. The schedules show
// the consequences:
//
//	sender                 receiver
//	announces M (data)
//	asks M back (control)
//	                       Withdraw of M: nothing waits under that name
//	                       M comes, is kept; nobody receives it
//	waits for an answer for ever
//
// So a Withdraw carries the number of its announcement, counted per pair. If that number is greater
// than that of the last announcement that has arrived, the withdrawal is kept and takes effect when
// the announcement arrives (Peer). Otherwise the message waits and is taken back, or it has matched
// or was refused, and an answer is under way already.
//
//	sender                        receiver
//	announces M
//	                              a receive matches M: Grant
//	asks M back: Withdraw
//	Grant: it is too late,        Withdraw: nothing waits, M's number was counted: no answer
//	the payload goes
//
//	sender                        receiver, has not heard of the revocation
//	announces M
//	the communicator is revoked:
//	the buffer is the program's
//	                              a receive matches M: Grant
//	Grant names no send: Gone     the receive ends with "revoked"
//
//	sender                        receiver
//	                              the receive is over: revoked
//	chunks of the grant           name no receive: dropped
//
// # Promises
//
//   - A buffer is returned once: a Send and a Recv end once.
//   - An end that is over rejects every frame: no byte is written to the buffer of such a receive,
//     and none is read from that of such a send. For that purpose handles are never used twice.
//   - Chunks are stored in order, only from the process that was granted, and within the granted
//     bytes.
//   - A sender that requests a message back gets an answer, unless it has one: by Withdrawn, by a
//     Grant, by Refuse, or by the death of the receiver.
//   - A receive that has matched does not wait for a send that is over.
//
// # Duties of the host
//
// The host implements Host, and passes each control frame to Hear. It finds ends by their handles,
// moves payloads, keeps frames in their order, and receives nothing from a process after the death
// of that process. With End the host ends each send and receive that is over: by its last byte, by
// a death, by a revocation. The host may let a receiver copy the payload from the sender's memory
// instead (Pulled): then there are no chunks.
//
// # Evidence
//
// The test in explore_test visits every state of small worlds: two and three processes, each order
// of program steps, of frames on each lane, of cancels, revocations, and deaths that lose any part
// of the frames under way. The simulator (internal/testing/sim/cluster) hosts these rules in whole
// clusters. The tests find omitted rules (planted bugs long-*).
//
// # Not here
//
// Package internal/protocol/match decides which receive matches. The host decides the error that an
// end reports to the program. A peer that breaks the protocol harms only itself: the Read functions
// and the results of the methods reject its frames. But the number of its kept withdrawals is not
// bounded.
//
// Reading order of the files: send, receive, peer, frame, host; testdata; explore_test.
package rendezvous
