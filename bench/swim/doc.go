// Command swim compares two failure detectors on groups of processes of this machine: SWIM, in the
// implementation hashicorp/memberlist, and the monitoring of nodes in goulfm
// (internal/protocol/membership), a ring of heartbeats with a coordinator. It takes figures D9 of
// the comparison of detectors, with the settings of the papers:
//
//	go run . -figure D9     4 to 32 members, P = 500 ms, T = 2P, C = 1 ms
//	go run . -figure D9p    8 members, P from 1 s down to 20 ms, T = 2P, C = 1 ms
//	go run . -figure D9d    4 and 8 members, P = 100 ms, the default T = 5P and C = T/2
//
// P is the period, T the timeout of goulfm, and C the time that a suspected node has to answer. The
// papers are RR-9024 (Bosilca et al., section 5.4) and PARCO 2019 (Zhong et al., section 5.4).
//
// Every run does the same on all sides. A group has n members, each a process. The program waits
// until all members have joined and 5 to 6 periods have passed. Then it kills one member (SIGKILL)
// or stops it (SIGSTOP). The time begins just before that signal and ends when the last of the
// other members has learned of the failure. CLOCK_MONOTONIC gives both moments.
//
//	              SWIM                                     goulfm run --host n --ppn 1
//	member        a process with a memberlist.Memberlist   a daemon and its one rank
//	victim        that process                             the daemon (with SIGSTOP its rank, too)
//	notice        a call of NotifyLeave                    a receive from any rank fails
//
// So goulfm has one more hop, from the daemon to the rank. The launcher does not fail.
//
// There are two sides of SWIM. "pure" probes by UDP and spreads suspicions on probes alone.
// "push-pull" adds the TCP probes, the gossip and the exchange of states of memberlist. On both
// sides the period is the ProbeInterval, and the other times of memberlist keep their ratio to it.
//
// A run in which a living member is declared dead counts as wrong and gives no time. The sides take
// turns: each run of one side is followed by the same run of the next side, with the same victim.
package main
