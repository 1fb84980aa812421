// Package heartbeat carries the heartbeats between the processes of a platform:
// fd/beat, and the calls by which an observer is introduced to the process that
// it observes.
//
// An observer has one UDP socket and one goroutine for all processes that it observes. A connection
// to one of them lasts until the first beat has arrived as a datagram; it stays only where no
// datagram does. So an observed process costs some hundred bytes, and thousands can be observed.
//
// A process that is killed, stopped or cut off is known by its silence within the time that was
// asked for. An owner that has a connection of its own to the process, for calls or as a link of
// the tree, learns a death from its end in milliseconds. A process whose address another process
// has now is dead.
package heartbeat
