// Command swim compares two ways in which members of a group detect the loss of a member: SWIM in
// hashicorp/memberlist, and the protocol of goulfm between the nodes of a job
// (internal/protocol/membership). In goulfm a ring of heartbeats suspects, and a coordinator
// declares. The comparison is figure D9 of the detectors.
//
//	go run . -n 4,8 -runs 20 -csv out.csv
//
// Both sides have a process for each member and the same period, and are measured in the same way.
// There are n members on this machine, each a process that can learn of a loss. When all are in,
// and some periods have passed, one member is killed (SIGKILL) or stopped (SIGSTOP) at a random
// moment of a period. The time is from just before this signal until the last of the others knows.
// Each member's own program prints a line with this moment, by the clock that all processes of a
// machine share.
//
//	         SWIM                                     goulfm run --host n --ppn 1
//	member   a process with a memberlist.Memberlist   a daemon, and its one rank
//	victim   that process                             the daemon (with SIGSTOP its rank, too)
//	notice   NotifyLeave was called                   a receive from the rank there has failed
//
// So goulfm has one hop more, from the daemon to the rank. Only goulfm has a launcher, which is not
// killed.
//
// Settings: -period is the ProbeInterval of memberlist and --period of goulfm. All other times of
// memberlist are the times of its DefaultLANConfig (or DefaultLocalConfig, -swim local) in the same
// ratio to the ProbeInterval. goulfm has its defaults: 5 periods until a silent node is suspected,
// half of that to confirm.
//
// Sides alternate: run i of one is followed by run i of the other, with the same victim.
package main
