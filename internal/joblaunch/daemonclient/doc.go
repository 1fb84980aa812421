// Package daemonclient is the launcher's side of a job on several nodes: their daemons, seen as
// one. A Client has the methods of daemon.Daemon. It passes orders on to the node of the process,
// and the reports of the daemons to the same daemon.Host. The launcher and the rules of the job
// therefore know next to nothing about nodes.
//
//	launcher: Start(process 5)  ──▶  Client: 5 is on node 2 ──order──▶  daemon of node 2
//	host: Found(process 5)      ◀──  Client                 ◀─────────
//	launcher: Declare(5)        ──▶  Client: to all nodes   ──order──▶  their lists of departures,
//	                                                                    unless there by news
//
// A node is lost when the connection to its daemon ends: the daemon, or the machine, has ended, and
// A node is lost when the connection to its daemon ends: the daemon, or the machine, has ended, and
// its processes with it, since they end with their daemon. The Client then reports all of them to
// the host as Found, Reaped and Heard, as if killed, and declares them to the other nodes without
// exact evidence.
//
// Reading order:
//
//	client_linux.go, node_linux.go, muster_linux.go, local_linux.go,
//	output_linux.go, ship_linux.go, wires_linux.go
package daemonclient
