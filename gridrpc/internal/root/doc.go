// Package root elects the root among several masters. The masters are a Raft group: the leader is
// the root, and the Raft term is the term of its reign. A majority of the masters is required.
//
// The group agrees on nothing else. A root holds no data, and its children report their state again
// when they link to it. So the log has one empty entry for each leader. The log does not name the
// root: a process asks all masters, and the root answers that it is the root.
//
// A leader that does not reach a majority for leaseFor steps down, whether it was cut off or
// stopped. The other masters elect a leader a little later than heartbeatWithin after the last
// heartbeat of the former one.
package root
