// Package transporttest is the conformance suite of package transport: what an
// engine may rely on, whatever moves the frames. Run holds every transport to
// it; RunLate leaves out the cases that ask for a frame to be there as soon as
// it was sent; Scribble is for rings in shared memory, where a peer can write
// anything anywhere.
//
// # What is asked
//
//   - Content: every length up to the limits, every header field, intact.
//   - Order: first in, first out, for each pair of processes and class. Nothing
//     is asked across pairs or across classes, except that control never waits
//     behind data.
//   - "No room" is an answer: what was refused is not delivered, what was
//     accepted is, and who waits for room is woken when there is some.
//   - No lost wake-up: a process that raises its flag, looks, and then sleeps is
//     woken by whatever comes after its poll.
//   - Ends: what was published before CloseData is readable until then; after it
//     sends succeed and nothing arrives.
//   - No allocation for a message.
//
// # How a hang is found
//
// Nothing here sleeps for a while and hopes. Processes wait in Transport.Sleep
// without a timeout, so that a lost wake-up is a hang, and a case in which nothing
// has moved for a minute and a half fails with all stacks.
//
// # What is not asked
//
// Speed, and fairness among peers.
package transporttest
