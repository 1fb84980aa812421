// Package ranking has the rule by which agents choose the best servers for a request. Servers
// report estimates, agents store the latest report of each child and answer from these reports, and
// the root books the calls that it has assigned.
//
// The best server completes the call first. The time is the sum of the wait until the call begins,
// the transfer of missing bytes (the argument, and the checkpoint unless the same machine has it),
// and the work divided by the rate. A server with an unknown rate counts as an average one, so that
// it gets calls. See Estimate.completion.
package ranking
