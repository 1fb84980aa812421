// Package membership decides which nodes of a job live. Its members are the launcher and the
// daemons of the nodes; each hosts one Roster. Ranks are not members: the daemon of their node
// observes their ends exactly, and this package only spreads the news.
//
// # The problem
//
// Between machines silence may mean a dead node, a slow one, or a broken link, and a node that was
// taken for dead may continue computing and write its checkpoint. A death is therefore a decision
// (B22), and a node stands still before it is declared (F11).
//
//	layer       file           function
//	ring        ring.go        heartbeats to a neighbour, suspicion, a second check (package fd);
//	                           as few as suffice where Config.Adaptive asks for a quality;
//	                           ringorder.go: neighbours are in different racks
//	lease       lease.go       each node's right to run, renewed by the coordinator with every beat
//	coordinator coordinator.go the only one that declares; complaint.go: links between living nodes
//	succession  succession.go  the choice of the coordinator, records of a majority
//	late        late.go        nodes that come when the job runs
//	news        news.go        deaths, leavings and more of each node, sent to all others
//
// # Why the ring does not declare
//
// Of 8 nodes 6 and 7 are cut off. If the observers of the ring declared, 6 would declare 5, then 4,
// then 3, and only with the fourth notice that it belongs to the smaller side; a communicator over
// 5 and 6 has shrunk there meanwhile and writes to disk. Therefore the ring suspects, the
// coordinator declares, and a member without a coordinator declares nobody.
//
// # Two modes
//
// Attached, the launcher is the coordinator for ever: its side of a partition lives, any number of
// nodes may die, and the job ends with the launcher. Surviving, the launcher and the nodes vote: a
// declaration of a coordinator counts once more than half of them have written it down (F12), and
// when the coordinator is silent a majority follows another one. The loss of more than a minority
// at once cannot be survived: the remaining nodes cannot be distinguished from the losing side of a
// partition.
//
// # Invariants
//
//   - A declaration is known nowhere before the ranks of its node stand still or have ended (I18),
//     so of two sides of a partition at most one computes (I7, F9). It rests on clocks whose rates
//     differ by less than a thousandth, and on a host that ticks within a tenth of a Period of the
//     Deadline and stops its ranks at Freeze. A member that was paused gets a Tick before anything
//     else and freezes with that.
//   - Nothing of a coordinator takes effect after something of a later one (I20).
//   - Versions of the roster are one sequence: a version that counts is the same everywhere.
//   - A lease is never prolonged by anything but a grant; waits are prolonged by this member's own
//     lateness (B17).
//   - Every entry of news is learned once and in the order of its node's list (B23); all living
//     members that can reach each other know the same in the end.
//   - A declared member receives no message except that it is dead.
//
// # Bounds
//
// With messages of some milliseconds: an ended daemon is known to all within 20 ms; a silent node
// within Period + Timeout + Confirm or, if it is set, within Adaptive.Detection, but not before the
// end of its lease; f neighbours on the ring within 1 + log2 f rounds of a Period and a Timeout.
// The nodes of a rack (Config.Racks) are not neighbours, and are lost together within one round. A
// rank's death is known after one message per hop. A coordinator that ended is replaced, and grants
// again, after about a Timeout and a Confirm; a silent one after twice that.
//
// # Not promised
//
// A firewall that refuses connections of a living node makes its daemon appear to have ended: one
// wrongful death. The node freezes within a Timeout, for lack of a coordinator, and learns that it
// is dead from any member in reach. A pair of ranks that cannot meet although both nodes live costs
// one of the nodes after Config.Link. With Config.Survive no nodes come late (Config.Absent,
// Config.Late). Messages may be lost, doubled or late: everything is repeated each Period for as
// long as it matters.
//
// Reading order: event.go, config.go, lease.go, coordinator.go, record.go, succession.go, ring.go,
// ringorder.go, complaint.go, news.go, late.go; then the scripts in testdata.
package membership
