// Package jobhost connects the rules of a job with the daemon of a node: the daemon's
// observations are events for the rules, and the daemon carries out their decisions. The launcher
// and the daemon of adopted processes are hosts, and add the parts that only they have.
package jobhost
