// Package remotedaemon is the daemon of one node of a job that the launcher controls remotely: the
// process goulfm daemon. It connects to the launcher, and from then on serves its node as package
// daemon serves one machine: messages of package daemonproto are calls of a daemon.Daemon, and the
// daemon's reports to its host return to the launcher. It decides nothing.
//
//   - It ends with its connection to the launcher: its processes are killed first. In a job that
//     may outlive its launcher the daemon continues, as long as there is a coordinator
//     (alone_linux.go).
//   - The end of a process here is entered in the list of the node, then sent to all other daemons
//     by the news of package membership, and to the launcher. Each keeps its own list
//     (roll_linux.go).
//   - The output of its processes is passed on as the launcher takes it: beyond CreditBytes nobody
//     reads their pipes.
//   - Where the job may outlive the launcher the output of processes is written to files here
//     (files_linux.go).
//   - In a pod SIGTERM makes the node leave a job that continues (drain_linux.go).
//   - The job's secret comes by standard input, and is passed to its processes by a descriptor.
package remotedaemon
