// Package membershiphost runs the rules about nodes (package membership) at one member of a job:
// the launcher or the daemon of a node. Its Driver gives the rules the time and the sockets. Its
// Host executes their decisions.
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
// There are two ways to a member. A lost packet delays everything behind it on a TCP connection:
// with 5 % loss, a lease of half a second would expire every minute without cause. So leases are
// granted over UDP. The messages that confirm a suspicion use TCP.
//
// A member keeps a connection open to its coordinator and to the member whose heartbeats it
// observes. When a connection breaks, the member dials again at once. If the peer's port refuses
// the connection, the daemon there has ended; two members have to report that (package membership).
// A connection carries frames in one direction, from the dialer. Messages may be lost when a
// connection breaks, which the rules allow.
//
// Reading order: driver.go, packets_unix.go, wait_linux.go, way.go, link.go, arrive.go.
package membershiphost
