// Package transporttest is the conformance suite of package transport. It tests the guarantees on
// which an engine relies, for every transport. Run tests all of them. RunLate omits the cases that
// require a frame to be there as soon as the frame is sent. RunRough is for connections that break.
// Scribble is for rings in shared memory, where a faulty peer can write any value anywhere.
//
// # Requirements
//
//   - Content: every length up to the limits, every header field, intact.
//   - Order: first in, first out, for each pair of processes and class. There is no requirement
//     across pairs or across classes, except that control never waits behind data.
//   - "No room" is an answer: refused frames are not delivered, accepted frames are, and a sender
//     that waits for room wakes when there is some.
//   - No lost wake-up: a process that raises its flag, polls, and then sleeps is woken by every
//     event after its poll.
//   - Ends: frames published before CloseData are readable until then. Afterwards sends succeed and
//     nothing arrives.
//   - No allocation for a message.
//
// # Detection of hangs
//
// No case sleeps for a fixed time and then assumes success. Apart from testTimeout, processes wait
// in Node.Sleep without a timeout, so that a lost wake-up is a hang. A case in which nothing has
// moved for a minute and a half fails with all stacks.
//
// # Not required
//
// Speed, and fairness among peers.
package transporttest
