// Package udpheartbeat carries the heartbeats of fd/adaptive between processes: one UDP socket and
// one goroutine for all that a process observes, and for all that observe it.
//
// Who observes has a connection to the observed process, by which it learns a key and the
// address that takes datagrams. Making that connection is the owner's part; so is a look at a
// process that is suspected:
//
//	o, err := node.Observe(qos, told)      // from now on, whether it can be reached or not
//	... a call to the other process: "observe me, number o.Next()"; it answers with address and key
//	o.Connected(Connection{...})
//	... told(Suspected): is anybody listening there? o.Refused() if not, o.Answered() if it answers
//	... told(Dead): once, and the last thing
//
// At the other process each observer is an Emission.
//
// # What is promised
//
//   - All datagrams that lie in the socket are read before the detector is told what time it
//     is: a process that was stopped itself suspects nobody for that.
//   - Beats go to an address only from which a message came with the right tag and a clock
//     that is later than those before. A datagram without the right tag changes nothing.
//   - told is called by one goroutine, in the order in which things happen.
package udpheartbeat
