// Package root decides which of several masters is the root: they are a Raft group, whose leader is
// it, and whose term is that of its reign. A majority of them has to be there.
//
// Nothing is agreed on but that: a root holds no data, and what it knows comes up again with the
// links of its children. So the log has one empty entry for each leader, and who is the root is not
// looked up in it: a process asks all masters, and the one that is it says so.
//
// A leader that does not reach a majority for leaseFor steps down, be it cut off or stopped
// meanwhile; another one begins heartbeatWithin and a little more after the last that was heard of
// it.
package root
