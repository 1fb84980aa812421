// Package redundancy says which process keeps a copy of whose data, whether a loss can
// be made good, and who has to send what to whom for that.
//
// A version is what all ranks of a world have committed together, one part a rank. The
// memory of a node outlives its processes but not the node. A Layout places copies or
// parity so that the parts survive the nodes, too:
//
//	layout          a part survives while                      memory
//	Alone           its own memory does                        1
//	Partners(1)     one of the two of its pair does            2
//	Partners(k)     one of k+1 memories on k+1 nodes does      1 + k
//	Erasure(d, p)   at most p of its group's d+p are lost      1 + p/d
//
// A layout is a function of the nodes of the ranks, the same at all processes. So is a
// plan a function of the layout and of what each process has: after an exchange of
// their holdings all processes compute one plan and none has to be told.
//
// # Invariants
//
//   - Recoverable(lost) holds iff Restore finds a plan when the memory of the lost ranks
//     is empty and all else is complete.
//   - A rank that Weak does not name keeps its part when any Strength() nodes are lost.
//   - Plans read only what the holdings name, and no step of a plan needs the result of
//     another step of the same plan. So the steps may run in any order, or at once.
//   - Nothing here deletes: what a plan copies from stands until its caller drops it.
//
// # Not promised
//
// That a layout is as strong as asked for: with too few nodes it makes copies inside of
// a node, which protect from nothing but the loss of one memory. Weak says where.
//
// To read next: layout.go, mirror.go, code.go, restore.go, complete.go.
package redundancy
