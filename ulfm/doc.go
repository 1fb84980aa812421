// Package ulfm defines the error classes of User Level Failure Mitigation and the table that
// decides which operation raises which class after a failure or a revocation. It follows the MPI
// Forum's ULFM proposal (slices 1 to 3, not yet part of an MPI standard) and the manual pages of
// Open MPI; the rule numbers are those of docs/SEMANTICS.md.
//
// # Problem
//
// When a process fails, only the operations that need that process may report the failure, and they
// must (R2, R3). An error therefore has a class that programs can branch on, and names the
// communicator and the ranks concerned.
//
// # What is where
//
//   - ErrProcFailed, ErrProcFailedPending and ErrRevoked are the classes, for errors.Is.
//     Recoverable reports whether an error has one of these classes.
//   - Error is the type that operations return: operation, communicator, ranks, class. Extract an
//     Error with errors.As.
//   - Entry is the table of operations (Op) against the knowledge of a member (State): R6, R7,
//     R45-R58. Every call of package comm evaluates Entry.
//
// The calls themselves, revoke, agree, shrink and the like, are methods of comm.Comm.
//
// # Invariants
//
//   - The revocation comes first: an operation on a revoked communicator never reports a
//     dead peer instead (R7, R18).
//   - Entry is never evaluated for a complete operation. Success once obtained stays success (R8).
//
// # What is not promised
//
//   - Errors are local. An error at one member implies nothing about the other members, except for
//     agree, shrink and the calls that create communicators (R29, R56).
package ulfm
