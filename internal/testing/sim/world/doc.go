// Package world holds the parts that all simulations share.
//
// A Tape makes the choices of a run from its seed, and a Hash covers its trace. AgreementKey,
// Agreement and Decision record agreements for the checks, at all processes of a run at once.
// RunMany executes runs of consecutive seeds on several goroutines; each run has one goroutine.
package world
