// Package daemonclient is the launcher's side of a job on several nodes: their daemons, seen as
// one. It has the methods of daemon.Daemon, passes what is asked for to the node that has the
// process, and what the daemons tell to the same daemon.Host; so the launcher and the rules of the
// job know of nodes next to nothing.
//
//	launcher: Start(process 5)  ──▶  fleet: 5 is on node 2  ──order──▶  daemon of node 2 (outpost)
//	host: Found(process 5)      ◀──  fleet                  ◀─────────
//	launcher: Declare(5)        ──▶  fleet: to all nodes    ──order──▶  their lists of departures, if
//	                                                                    it is not there by news yet
//
// A node is lost when the connection to its daemon ends: the daemon, or the machine, is gone, and
// its processes with it, since they end with their daemon. All of them are Found, Reaped and Heard
// then, as if killed, and declared to the others without exact evidence.
//
// Reading order: fleet_linux.go, node_linux.go, muster_linux.go, local_linux.go, output_linux.go,
// ship_linux.go, wires_linux.go.
package daemonclient
