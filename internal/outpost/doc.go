// Package outpost is the daemon of one node of a job that the launcher holds from afar: the
// process goulfm daemon. It connects to the launcher, and is from then on what package daemon is
// on one machine: orders (package orders) are calls of a daemon.Daemon, what the daemon tells its
// host goes back. It decides nothing.
//
//   - It ends with its connection to the launcher: its processes are killed first. So a node
//     never goes on without a head.
//   - What its processes print is passed on as the launcher takes it: beyond CreditBytes nobody
//     reads their pipes.
//   - The job's secret comes by standard input, and goes to its processes by a descriptor.
package outpost
