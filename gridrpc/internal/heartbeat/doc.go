// Package heartbeat carries the heartbeats between the processes of a platform. The package uses
// fd/beat, and has the calls that introduce an observer to the process that it observes.
//
// An observer has one UDP socket and one goroutine for all observed processes. A connection to one
// of them lasts until the first beat has arrived as a datagram. The connection stays only where no
// datagram arrives. So an observed process costs some hundred bytes, and thousands can be observed.
//
// A process that is killed, stopped or cut off is found by its silence within the requested time.
// An owner with its own connection to the process, for calls or as a link of the tree, learns of a
// death from the end of the connection in milliseconds. A process is dead if another process has
// its address now.
package heartbeat
