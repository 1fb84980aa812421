// Package pmi is a client of PMI-1, the protocol by which the tasks of a job exchange a few short
// texts while they start. Each task puts a key and a value, all tasks meet in a barrier, and
// after the barrier each task gets the values of the others. hydra (mpiexec of MPICH and Intel
// MPI) serves the protocol. So does Slurm with --mpi=pmi2, whose server implements version 1 as
// well.
//
//	task                                         server
//	cmd=init pmi_version=1 pmi_subversion=1      cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1
//	cmd=get_maxes                                cmd=maxes rc=0 kvsname_max=256 keylen_max=64
//	                                               vallen_max=1024
//	cmd=get_my_kvsname                           cmd=my_kvsname rc=0 kvsname=2.0
//	cmd=put kvsname=2.0 key=card-3 value=c0ffee  cmd=put_result rc=0
//	cmd=barrier_in                               cmd=barrier_out rc=0           (once all have come)
//	cmd=get kvsname=2.0 key=card-1 ...           cmd=get_result rc=0 value=f00d
//	cmd=finalize                                 cmd=finalize_ack rc=0
//	cmd=abort exitcode=3                         (none: the engine ends the job)
//
// The server is at the other end of an inherited socket (PMI_FD), or at an address (PMI_PORT). At
// an address the client first sends its task number, and receives its rank:
//
//	cmd=initack pmiid=3                          cmd=initack rc=0
//	                                             cmd=set size=4
//	                                             cmd=set rank=3
//	                                             cmd=set debug=0
//
// # Invariants
//
//   - No call waits for ever. A request is bounded by Client.Timeout, a barrier by its
//     context or BarrierTimeout.
//   - A request is one write of at most LineMax bytes. Slurm takes the result of one read for
//     a whole request: of a longer one it stores a part, answers rc=0, and takes the rest for
//     the next.
//   - The stored part of an answer is bounded by AnswerMax bytes, whatever its pieces.
//   - After a failed exchange, except for a refusal, the client is broken, and each further
//     call returns that error: a late answer would be taken for the answer to the next request.
//   - An error names the request, the cause and the remedy (Error).
//
// # Use it once, early
//
// A barrier counts tasks that have begun, not tasks that live: after a death it never ends,
// neither under Slurm nor under hydra. And hydra kills all tasks of a job when a task ends that
// has not finalized. So: put, barrier, get, Finalize, all at the start, and nothing later.
//
// # Not promised
//
// PMI-2 and PMIx are not implemented. Values are not secret: they pass through the engine's
// connections in clear. A Client is for one goroutine, except for Abort and Close.
//
// Reading order: wire.go, client.go, calls.go, open.go.
package pmi
