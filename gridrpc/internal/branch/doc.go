// Package branch is the place of one process in the tree of agents: it hosts internal/tree,
// carries its links to the parent and to the children, and has those observed whose deaths
// the rule has to hear of.
//
// A link is a stream from child to parent. Who finds it broken looks whether anybody listens
// at the other's address: a killed process is known so in milliseconds. One that is stopped is
// declared dead by its heartbeats: a parent observes its children, a child the nearest of its
// ancestors.
//
// Servers are leaves: the same rule, without children.
package branch
