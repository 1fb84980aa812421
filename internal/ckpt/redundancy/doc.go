// Package redundancy computes the placement of copies and parity: which process keeps a copy of
// which other process's data, whether a loss can be repaired, and which data each process must send
// for that.
//
// A version is the data that all ranks of a world have committed together, one part for each rank.
// The memory of a node outlives its processes but not the node. A Layout places copies or parity so
// that the parts survive the nodes, too:
//
//	layout          a part survives while                      memory
//	Alone           its own memory does                        1
//	Partners(1)     one of the two of its pair does            2
//	Partners(k)     one of k+1 memories on k+1 nodes does      1 + k
//	Erasure(d, p)   at most p of its group's d+p are lost      1 + p/d
//
// A layout is a function of the nodes of the ranks, and so is the same at all processes. A plan is
// a function of the layout and of the data at each process. After an exchange of their holdings all
// processes compute the same plan, and no process has to send it.
//
// # Invariants
//
//   - Recoverable(lost) holds iff Restore finds a plan when the memory of the lost ranks
//     is empty and all other memory is complete.
//   - A rank that Weak does not name keeps its part when any Strength() nodes are lost.
//   - Plans read only data that the holdings name, and no step of a plan needs the result of
//     another step of the same plan. So the steps may run in any order, or at once.
//   - This package deletes nothing: the source of a copy stays until the caller drops it.
//
// # Not promised
//
// That a layout is as strong as requested. With too few nodes it makes copies inside a node, which
// protect only from the loss of one memory. Weak names the ranks concerned.
//
// To read next: layout.go, mirror.go, code.go, restore.go, complete.go.
package redundancy
