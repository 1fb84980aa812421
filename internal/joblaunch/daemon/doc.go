// Package daemon serves the processes of one node: it makes their shared memory, starts them,
// carries their streams, watches, signals and reaps them. The daemon decides nothing: it reports
// the fate of each process to a Host, and carries out the Host's calls.
//
//	Host (rules of the job)            Daemon (this node)
//	Start, Signal, KillAll, Say   -->  fork, pipes, kill(2), lifeline
//	Declare, WakeAll              -->  list of departures, doorbells
//	Found, Reaped, Heard, Said    <--  tombstones, wait4(2), lifelines
//
// On one machine the launcher holds the daemon as an object: no second process, no socket. Under
// a job engine the daemon is a process of its own, and its processes are adopted: the engine has
// started them, and reaps them (adopted_linux.go).
//
// Invariants:
//
//   - A signal is sent under the lock under which processes are reaped, or by a pidfd, so never
//     to another process that has the number by now.
//   - Between the fork of a process and its entry in the daemon's tables nothing is reaped: a
//     process that ends at once is known to the reaper.
//   - The daemon calls the Host without holding a lock of its own; the Host may hold its lock
//     while it calls the daemon.
//   - All that a process has written to its lifeline is Said before its end is Heard.
//   - At the end nothing is left: no process that a rank has started, no memory, no pipe.
//
// Threads: the one that starts the first processes also reaps them; the starter starts the
// later ones. Both live as long as this process, for parent-death signals are bound to the
// thread that forks. A watcher sleeps on the tombstones of up to 128 processes.
//
// Reading order: daemon_linux.go, start_linux.go, tombstones_linux.go, reap_linux.go,
// lifeline_linux.go, leftover_linux.go, adopted_linux.go; turns_linux.go is about
// the scheduler alone.
package daemon
