// Package ulfm is User Level Failure Mitigation as a program meets it: the classes of
// error that a failure or a revocation raises, and the table that says which operation
// raises which. It follows the MPI Forum's ULFM proposal (slices 1 to 3; it is in no MPI
// standard yet) and the manual pages of Open MPI; the rule numbers are those of
// docs/SEMANTICS.md.
//
// # Problem
//
// When a process fails, those that need it must learn so from the operation that needed
// it, and nobody else (R2, R3). So an error has a class that programs can branch on, and
// says about which ranks of which communicator it is.
//
// # What is where
//
//   - ErrProcFailed, ErrProcFailedPending and ErrRevoked are the classes, for errors.Is.
//     Recoverable says whether an error is of one of them.
//   - Error is what operations return: operation, communicator, ranks, class; for
//     errors.As.
//   - Entry is the table of operations (Op) against what a member knows (State): R6, R7,
//     R45-R58. Every call of package comm asks it.
//
// The calls themselves, revoke, agree, shrink and the like, are methods of comm.Comm.
//
// # Invariants
//
//   - The revocation comes first: an operation on a revoked communicator never reports a
//     dead peer instead (R7, R18).
//   - A complete operation is never asked about. Success once obtained stays success
//     (R8).
//
// # What is not promised
//
//   - Errors are local. That one member gets an error says nothing about the others,
//     except for agree, shrink and what makes communicators (R29, R56).
package ulfm
