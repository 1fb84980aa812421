package ulfm

import (
	"errors"
	"testing"
)

// ops returns all classes of operations.
func ops() []Op {
	var all []Op
	for op := OpSend; op <= OpLocal; op++ {
		all = append(all, op)
	}
	return all
}

// states returns every consistent state of knowledge of a member.
func states() []State {
	var all []State
	for bits := range 16 {
		st := State{Revoked: bits&1 != 0, PeerDead: bits&2 != 0, UnackedDead: bits&4 != 0, AnyDead: bits&8 != 0}
		if st.AnyDead || !st.PeerDead && !st.UnackedDead { // a dead peer is also a dead member
			all = append(all, st)
		}
	}
	return all
}

// TestSpecR6ThreeClasses: an operation that may not go on gets one of three errors; only the posted
// wildcard receive gets the class that leaves the request active.
func TestSpecR6ThreeClasses(t *testing.T) {
	for _, op := range ops() {
		for _, st := range states() {
			switch err := Entry(op, st); err {
			case nil, ErrRevoked, ErrProcFailed:
			case ErrProcFailedPending:
				if op != OpRecvAnyPosted {
					t.Errorf("op %d in %+v: %v", op, st, err)
				}
			default:
				t.Errorf("op %d in %+v: %v", op, st, err)
			}
		}
	}
	if errors.Is(ErrProcFailedPending, ErrProcFailed) || errors.Is(ErrProcFailed, ErrProcFailedPending) {
		t.Error("the two classes of failure are told apart by errors.Is")
	}
}

// TestSpecR7R13R14R32R40RevokedFirst: with a revocation every operation that is not exempt returns
// ErrRevoked, whichever members are dead. The exempt operations return the same error as without
// the revocation.
func TestSpecR7R13R14R32R40RevokedFirst(t *testing.T) {
	exempt := map[Op]bool{OpAgree: true, OpShrink: true, OpLocal: true}
	for _, op := range ops() {
		for _, st := range states() {
			calm := st
			calm.Revoked, st.Revoked = false, true
			want := ErrRevoked
			if exempt[op] {
				want = Entry(op, calm)
			}
			if got := Entry(op, st); got != want {
				t.Errorf("op %d in %+v: %v, want %v", op, st, got, want)
			}
		}
	}
}

// TestSpecR2R3NothingWithoutNeed: an operation that needs no dead process continues.
func TestSpecR2R3NothingWithoutNeed(t *testing.T) {
	for _, op := range ops() {
		if err := Entry(op, State{}); err != nil {
			t.Errorf("op %d without any failure: %v", op, err)
		}
	}
	third := State{AnyDead: true, UnackedDead: true}
	for _, op := range []Op{OpSend, OpRecvNamed, OpProbe, OpCreate, OpAgree, OpShrink, OpLocal} {
		if err := Entry(op, third); err != nil {
			t.Errorf("op %d while a third process is dead: %v", op, err)
		}
	}
}

// TestSpecR22R23WhatAcknowledgingChanges: wildcards, and nothing else.
func TestSpecR22R23WhatAcknowledgingChanges(t *testing.T) {
	for _, op := range ops() {
		for _, peer := range []bool{false, true} {
			before := Entry(op, State{AnyDead: true, UnackedDead: true, PeerDead: peer})
			after := Entry(op, State{AnyDead: true, PeerDead: peer})
			switch op {
			case OpRecvAny, OpRecvAnyPosted, OpProbeAny:
				if before == nil || after != nil {
					t.Errorf("op %d: %v before, %v after", op, before, after)
				}
			default:
				if before != after {
					t.Errorf("op %d: acknowledging changed %v to %v", op, before, after)
				}
			}
		}
	}
}
