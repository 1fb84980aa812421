// Package membershiphost hosts the rules about nodes (package roster) at one member of a job: the
// launcher or the daemon of a node. It gives them time and sockets, and its Host does what they
// decide.
//
//	roster                    driver                              Host
//	Send{Datagram}        --> UDP: beats, grants, heartbeats
//	Send                  --> TCP: suspicions, reports, news
//	Receive, Broken,      <-- both
//	Refused, Connected
//	Tick                  <-- a timer, and before each event
//	Lease, Freeze, Thaw,  -->                                     writes the lease down, stops and
//	Declaration, End ...                                          continues the ranks of the node
//
// Two ways, because a lost packet holds back all that comes after it on a TCP connection: with 5 %
// of loss a lease of half a second would end each minute for nothing. What confirms a suspicion
// goes the other way.
//
// A member keeps a connection open to its coordinator and to the member whose heartbeats it listens
// for. When one breaks it is dialed anew at once: refused, the daemon there has ended, which two
// members have to say (roster). Connections carry frames in one direction, from who dialed;
// messages may be lost with them, which the rules allow.
//
// Reading order: driver.go, packets_unix.go, wait_linux.go, way.go, link.go, arrive.go.
package membershiphost
