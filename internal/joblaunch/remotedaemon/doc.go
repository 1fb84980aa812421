// Package remotedaemon is the daemon of one node of a job that the launcher holds from afar: the
// process goulfm daemon. It connects to the launcher, and is from then on what package daemon is
// on one machine: orders (package orders) are calls of a daemon.Daemon, what the daemon tells its
// host goes back. It decides nothing.
//
//   - It ends with its connection to the launcher: its processes are killed first. In a job that
//     may outlive its launcher it goes on, as long as there is a head (alone_linux.go).
//   - What ends here comes into the list of the node, then to all other daemons by the news of
//     package roster, and to the launcher. Each keeps its own list (roll_linux.go).
//   - What its processes print is passed on as the launcher takes it: beyond CreditBytes nobody
//     reads their pipes.
//   - Where the job may outlive the launcher what processes print goes to files here (files_linux.go).
//   - In a pod SIGTERM has the node leave a job that goes on (drain_linux.go).
//   - The job's secret comes by standard input, and goes to its processes by a descriptor.
package remotedaemon
