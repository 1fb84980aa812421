// Package treehost gives one process its place in the tree of agents. It hosts the rule,
// tree.Links, carries the streams of the links to the parent and to the children, and observes the
// processes that the rule names.
//
// A link is a stream from child to parent. Package treehost reports the end of a stream by its
// generation alone; the rule knows the process at the other end. A child that has lost its parent
// probes it together with its other ancestors, so a killed process is known in milliseconds: its
// machine refuses the connection. A process that is stopped is declared dead by its heartbeats: a
// parent observes its children, a child the nearest of its ancestors.
//
// Servers are leaves: they follow the same rule, without children.
package treehost
