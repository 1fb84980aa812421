package main

import (
	"fmt"
	"slices"
	"time"
)

// A result is what came of a round.
type result struct {
	r          *round
	logs       logs
	dead       map[int]bool
	took       time.Duration
	bad        string // what is wrong
	transcript string // what the launcher or the test said
}

// judge holds the logs of a round to what is promised, and says what is wrong.
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

// wrongs is what ranks have found.
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

// A jury knows what happened in the whole round.
type jury struct {
	*result
	revoked map[string]bool  // communicators that somebody revoked, or gave up a collective on
	members map[string][]int // of every communicator
	parents map[string]string
	over    map[int]bool // who came to the end
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

// isGone says whether a process counts as dead at another one: it is dead, or it came to
// its end and is of another world, with which it does not finalize.
func (j *jury) isGone(q, at int) bool {
	return j.dead[q] || j.over[q] && (q >= j.r.n || at >= j.r.n)
}

// survivors are those whose results all have to be the same: they are alive at the end.
func (j *jury) survivor(p int) bool { return j.over[p] && !j.dead[p] }

// ends: who has not died has come to the end, and nobody else was told of an own death.
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

// mayBeRevoked says whether a communicator has been revoked by somebody, or by the death
// of a member in uniform mode. A new one is, when a revocation overtook its creation.
func (j *jury) mayBeRevoked(name string) bool {
	if j.revoked[name] || j.parents[name] != "" && j.mayBeRevoked(j.parents[name]) && j.revocable(name) {
		return true
	}
	if !j.r.uniform {
		return false
	}
	return slices.ContainsFunc(j.members[name], func(p int) bool { return j.isGone(p, p) })
}

// revocable: the creation of a communicator that a revocation overtook failed somewhere.
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

// errors: they name the dead alone, and revoked are communicators that somebody revoked.
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

// outcomes: what all have to agree on is the same at all survivors. A process that has left with
// another world, and is named as gone, had decided before: as it is with one that dies then.
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

// part tells several communicators of one name apart: those of one split.
func (j *jury) part(proc int, name string) string {
	for _, r := range j.logs[proc] {
		if r.What == recMember && r.Comm == name {
			return fmt.Sprint(r.Procs)
		}
	}
	return ""
}
