// Command swim compares two ways in which members of a group learn that one of them is gone: SWIM,
// as hashicorp/memberlist has it, and what goulfm runs between the nodes of a job
// (internal/protocol/membership): a ring of heartbeats that suspects, a coordinator that declares.
// It is figure D9 of the comparison of detectors.
//
//	go run . -n 4,8 -runs 20 -csv out.csv        (a process per member on both sides, the same period)
//
// What is measured is the same on both sides. There are n members on this machine, a process each
// that can learn something. When all are in, and some periods have gone by, one member is killed
// (SIGKILL) or stands still (SIGSTOP) at a random moment of a period. The time is from just before
// that signal until the last of the others knows: until a line of its own program says so, by the
// clock that all processes of a machine share.
//
//	              SWIM                                     goulfm run --host n --ppn 1
//	member        a process with a memberlist.Memberlist   a daemon, and its one rank
//	is gone       that process                             the daemon (and with SIGSTOP its rank, as a machine)
//	knows         NotifyLeave was called                   a receive from the rank there has failed
//
// So ours has one hop more in it, from the daemon to the rank. The launcher, which is ours alone,
// is not killed.
//
// Settings: -period is the ProbeInterval there and --period here. All other times of memberlist are
// those of its DefaultLANConfig (or DefaultLocalConfig, -swim local) in the same ratio to the
// ProbeInterval; ours are the defaults: 5 periods until a silent node is suspected, half of that to
// confirm.
//
// Sides alternate: run i of one is followed by run i of the other, with the same victim.
package main
