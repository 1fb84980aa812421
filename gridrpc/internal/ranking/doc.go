// Package ranking is the rule by which agents find the servers that are best for a request:
// servers report estimates, agents keep the latest of each child and answer from them, and
// the root books what it has promised.
//
// Best is who is done first: the wait until a call would begin, the time for bytes that are
// not there yet (its argument, and its checkpoint, unless the same machine has that), and the
// work over the rate. A server whose rate nobody knows is taken for
// an average one, so that it is tried. See Estimate.completion.
package ranking
