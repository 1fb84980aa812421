// Package rendezvous holds the rules of long messages: how two processes agree when the payload
// of one goes, and when each buffer is its program's again.
//
// # Problem
//
// A long message is not pushed at a receiver that may have no room for it. The sender announces
// it; the payload stays in the buffer of the program that sends, until a receive matches. So
// there are two buffers that belong to the library for a while, one at each side, and either
// side may want its buffer back: a call's context ends, a communicator is revoked, a process dies.
//
//	sender                            receiver
//	Announce --data lane-->           kept until a receive matches it
//	         <--control lane-- Grant  matched: so many bytes fit
//	Chunk    --data lane-->           copied to their place
//	Chunk    --data lane-->           the last one: the receive is over
//	the send is over with the last chunk
//
// Three frames end what goes no further. Withdraw, from the sender, asks for an announcement back;
// Withdrawn answers that nothing had matched it, a Grant that something had. Refuse, from the
// receiver, says that the communicator is gone. Gone, from the sender, says that the send which a
// Grant named is over, or ends before its last chunk.
//
// # The two lanes
//
// Frames of one lane come in order; the two lanes know nothing of each other. What that
// needs, drawn:
//
//	sender                 receiver
//	announces M (data)
//	asks M back (control)
//	                       Withdraw of M: nothing waits under that name
//	                       M comes, is kept; nobody receives it
//	waits for an answer for ever
//
// So a Withdraw carries the number of the announcement that it is about, counted per pair. Is it
// greater than that of the last announcement that has come, the withdrawal is kept and takes effect
// when the announcement is there (Peer). Otherwise the message has matched, or was refused, and
// an answer is under way already.
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
// # What is promised
//
//   - A buffer is given back once: a Send and a Recv end once.
//   - An end that is over answers no: nothing lands in the buffer of such a receive, nothing is read from
//     that of such a send. For that handles are never used twice.
//   - Chunks land in order, from the peer that was granted, within what was granted.
//   - Whoever asks for a message back gets an answer, unless it has one: by Withdrawn, by a Grant, by
//     Refuse, or by the death of the receiver.
//   - A receive that has matched waits for no send that is over.
//
// # What the host does
//
// The host implements Host, and passes each control frame to Hear. It finds ends by their handles,
// moves payloads, keeps frames in their order, and receives nothing of a process after its death.
// It ends with End each send and receive that is over: by its last byte, by a death, by a
// revocation. It may let a receiver copy the payload from the sender's memory instead (Pulled):
// then there are no chunks.
//
// # Evidence
//
// explore_test.go visits every state of small worlds: two and three processes, each order of
// program steps, of frames on each lane, of cancels, revocations, and deaths that lose any part of
// what is under way. The simulator (internal/testing/sim/cluster) hosts these rules in whole
// clusters. Rules left out are found (planted bugs long-*).
//
// # Not here
//
// Which receive matches is for internal/protocol/match. What an end means to the program (its
// error) is the host's. A peer that breaks the protocol harms only itself: its frames are refused
// by what a Read function and the methods return. But it can have as many withdrawals kept as it
// likes.
//
// Reading order: send.go, receive.go, peer.go, frame.go, host.go; testdata; explore_test.go.
package rendezvous
