package main

import (
	"fmt"
	"slices"
	"time"
)

// A result is the result of a round.
type result struct {
	r          *round
	logs       logs
	dead       map[int]bool
	took       time.Duration
	bad        string // the fault that the driver has found, or ""
	transcript string // the output of the launcher or the test
}

// judge checks the logs of a round, and returns the first fault, or "".
func (res *result) judge() string {
	if bad := res.wrongs(); bad != "" {
		return bad
	}
	if res.bad != "" {
		return res.bad
	}
	j := newJury(res)
	for _, look := range []func() string{j.ends, j.errors, j.outcomes} {
		if bad := look(); bad != "" {
			return bad
		}
	}
	return ""
}

// wrongs returns the first fault that a rank has found.
func (res *result) wrongs() string {
	for _, p := range res.logs.procs() {
		for _, r := range res.logs[p] {
			if r.What == recWrong {
				return fmt.Sprintf("process %d: %s", p, r.Err)
			}
		}
	}
	return ""
}

// A jury holds the events of the whole round.
type jury struct {
	*result
	revoked map[string]bool  // communicators that a member revoked, or on which it gave up a collective
	members map[string][]int // of every communicator
	parents map[string]string
	over    map[int]bool // processes that reached the end
}

func newJury(res *result) *jury {
	j := &jury{result: res, revoked: map[string]bool{}, members: map[string][]int{}, parents: map[string]string{}, over: map[int]bool{}}
	for p, records := range res.logs {
		for _, r := range records {
			switch r.What {
			case recRevoke:
				j.revoked[r.Comm] = true
			case recMember:
				j.members[r.Comm] = append(j.members[r.Comm], r.Procs...)
			case recOver:
				j.over[p] = true
			case recEnd:
				if r.From != "" && r.Step != "" {
					j.parents[r.Step] = r.From
				}
			}
		}
	}
	return j
}

// isGone reports whether process q counts as dead at process at: q is dead, or q has reached its
// end and belongs to another world, with which it does not finalize.
func (j *jury) isGone(q, at int) bool {
	return j.dead[q] || j.over[q] && (q >= j.r.n || at >= j.r.n)
}

// survivor reports whether p is alive at the end. The agreed results of all survivors must be
// equal.
func (j *jury) survivor(p int) bool { return j.over[p] && !j.dead[p] }

// ends checks that each process that has not died has reached its end, and that only dead processes
// were fenced.
func (j *jury) ends() string {
	for _, p := range j.logs.procs() {
		if !j.over[p] && !j.dead[p] {
			return fmt.Sprintf("process %d is not dead, and has not come to the end", p)
		}
		for _, r := range j.logs[p] {
			if (r.What == recFenced || r.Class == classFenced) && !j.dead[p] {
				return fmt.Sprintf("process %d lives, and is told that it is dead: %s", p, r)
			}
		}
	}
	return ""
}

// mayBeRevoked reports whether a member has revoked a communicator, or the death of a member has in
// uniform mode. A new communicator may also be revoked if a revocation of the parent overtook its
// creation.
func (j *jury) mayBeRevoked(name string) bool {
	if j.revoked[name] || j.parents[name] != "" && j.mayBeRevoked(j.parents[name]) && j.revocable(name) {
		return true
	}
	if !j.r.uniform {
		return false
	}
	return slices.ContainsFunc(j.members[name], func(p int) bool { return j.isGone(p, p) })
}

// revocable reports whether the creation of a communicator failed somewhere because of a
// revocation.
func (j *jury) revocable(name string) bool {
	for _, records := range j.logs {
		for _, r := range records {
			if r.What == recEnd && r.Step == name && r.Class == classRevoked {
				return true
			}
		}
	}
	return false
}

// errors checks that errors name only the dead, and that only communicators that a member revoked
// are revoked.
func (j *jury) errors() string {
	for _, p := range j.logs.procs() {
		if j.dead[p] {
			continue
		}
		for _, r := range j.logs[p] {
			switch r.Class {
			case classFailed, classPending:
				if slices.ContainsFunc(r.Procs, func(q int) bool { return !j.isGone(q, p) }) {
					return fmt.Sprintf("process %d blames the living: %s; dead: %v", p, r, j.deadList())
				}
				if len(j.dead) == 0 && len(r.Procs) == 0 && r.Op != "spawn" {
					return fmt.Sprintf("process %d is told of a death, and nobody died: %s", p, r)
				}
			case classRevoked:
				if !j.mayBeRevoked(r.Comm) {
					return fmt.Sprintf("process %d: revoked, and nobody has: %s", p, r)
				}
			case classOther:
				return fmt.Sprintf("process %d: no error of this kind can be: %s", p, r)
			}
		}
	}
	return ""
}

func (j *jury) deadList() (all []int) {
	for p := range j.dead {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

// outcomes checks that agreed results are the same at all survivors. A process of another world
// that has left, and is named in the record, may have decided before, like a process that dies
// after its decision.
func (j *jury) outcomes() string {
	type seen struct {
		proc int
		r    record
	}
	first := map[string]seen{}
	for _, p := range j.logs.procs() {
		if !j.survivor(p) {
			continue
		}
		for _, r := range j.logs[p] {
			if r.Out == "" || r.What != recEnd {
				continue
			}
			key := r.Step + " " + r.Op + " " + r.Comm + " " + j.part(p, r.Comm)
			before, known := first[key]
			if !known {
				first[key] = seen{p, r}
				continue
			}
			if before.r.Out != r.Out && !slices.Contains(r.Procs, before.proc) && !slices.Contains(before.r.Procs, p) {
				return fmt.Sprintf("outcomes differ: process %d: %s; process %d: %s", before.proc, before.r, p, r)
			}
		}
	}
	return ""
}

// part distinguishes the communicators of one split, which have one name.
func (j *jury) part(proc int, name string) string {
	for _, r := range j.logs[proc] {
		if r.What == recMember && r.Comm == name {
			return fmt.Sprint(r.Procs)
		}
	}
	return ""
}
