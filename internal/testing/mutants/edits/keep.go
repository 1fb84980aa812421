package edits

const (
	keepHome  = "internal/shm/rankstore/home.go"
	keepWrite = "internal/shm/rankstore/write.go"
	heritage  = "recovery/heritage.go"
	simMemory = "internal/testing/sim/repairs/memory.go"
)

// keeping returns bugs of node memory, and of the use of node memory by package recovery and by the
// simulator of repairs.
func keeping() []Edit {
	edit := func(name, rule, test string, changes ...Change) Edit {
		return Edit{Name: "keep-" + name, Rule: rule, Changes: changes, Tests: []Test{{Run: test}}}
	}
	// both leaves a rule out of package recovery and out of the simulator of repairs, which must
	// find the bug by an invariant.
	both := func(name, rule, test string, ours Change, old, new, breaks string) Edit {
		e := edit(name, rule, test, ours, Change{simMemory, old, new})
		e.Tests = append(e.Tests, Test{Package: repairsFolder, Run: "TestRepairs$", Says: breaks})
		return e
	}
	return []Edit{
		edit("owner", "a home has one owner, until the owner is reaped", "TestOwner",
			Change{keepHome, "CompareAndSwap64(word, 0, me)", "CompareAndSwap64(word, segment.Load64(word), me)"}),
		edit("free", "a chunk of a stored version is not free", "TestRandomOwners",
			Change{keepWrite, "\th.live[slot], h.seq = v, v.root.seq\n\th.used = h.inUse()\n", "\th.live[slot], h.seq = v, v.root.seq\n"}),
		edit("last", "the contents of a version are stored before its root", "TestDiesAtAnyStore",
			Change{keepWrite, "\tv, err := h.putTable(l, t, taken)\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn h.publish(slot, v)\n",
				"\tb := t.encode()\n\tv := &version{root{label: l, first: uint32(firstGap(taken, chunksOf(len(b)), 1)), bytes: uint32(len(b)), crc: checksum(b), seq: h.seq + 1}, t}\n" +
					"\tif err := h.publish(slot, v); err != nil {\n\t\treturn err\n\t}\n\tif err := h.Drop(func(old Label) bool { return old.Kind == l.Kind && old != l }); err != nil {\n\t\treturn err\n\t}\n" +
					"\t_, err = h.putTable(l, t, taken)\n\treturn err\n"}),
		edit("compare", "two chunks with equal checksums may differ", "TestSameChecksum",
			Change{keepWrite, " == nil && bytes.Equal(buffer[:len(data)], data)", " == nil"}),
		edit("torn", "a chunk that has changed since the write is not returned", "TestFlippedBits",
			Change{"internal/shm/rankstore/read.go", "if checksum(b) != e.chunks[i].crc {", "if false {"}),
		both("others", "the lowest rank of a node reads the homes of ranks that are not on the node", "TestAnotherNode",
			Change{heritage, "r.inherit(other) {", "other == nil {"},
			"if other := &memory.homes[number]; !other.isEmpty() {", "if other := &memory.homes[number]; false {", "V2 broken"),
		both("restored", "a restored version is in the home when Protect returns", "TestNodeLost$",
			Change{"recovery/store.go", "\tok = ok && r.keepRestored(p)\n", ""},
			"p.Size == w.att.run.Size && !w.home.has(p.Label, w.att.run.Rank)", "false", "V6 broken"),
		both("alone", "ranks of one node need no copies or parity; a version that was made on several nodes has them", "TestErasureOntoOneNode",
			Change{"recovery/run.go", "if r.alone && slices.Min(nodes) == slices.Max(nodes) {", "if r.alone && slices.Max(nodes) >= 0 {"},
			"if w.alone && onOneNode(nodes) {", "if w.alone {", "V2 broken"),
		{
			Name: "keep-placements", Rule: "a version is complete if it is complete in one of the placements of its parts",
			Changes: []Change{{"internal/ckpt/repair/choose.go", "\t\tif !whole {\n\t\t\tcontinue\n", "\t\tif !whole {\n\t\t\treturn false\n"}},
			Tests:   []Test{{Package: repairsFolder, Run: "TestRepairs$", Args: []string{"-repairs", "25000"}, Says: "V2 broken"}},
		},
		{
			Name: "keep-ranks", Rule: "a home with the part of another rank gets the part of its own rank, too",
			Changes: []Change{{simMemory, "!w.home.has(p.Label, w.att.run.Rank)", "!slices.ContainsFunc(w.home.versions, func(h partInHome) bool { return h.label == p.Label })"}},
			Tests:   []Test{{Package: repairsFolder, Run: "TestRepairsFound$", Says: "V6 broken"}},
		},
		{
			Name: "keep-dropped", Rule: "a dropped version is not read from another home",
			Changes: []Change{{simMemory, "if slices.Contains(w.dropped, p.label) {", "if false {"}},
			Tests:   []Test{{Package: repairsFolder, Run: "TestRepairsFound$", Says: "V4 broken"}},
		},
		edit("agreed", "node memory shows that a version was committed, even after the deaths of all ranks", "TestNodeLostByAll",
			Change{"recovery/calls.go", "\t\tmine.Committed = r.home.committed\n", ""}),
		edit("stale", "the remains of earlier attempts are forgotten", "TestManyAttempts",
			Change{"recovery/home.go", "k.Kind == ofCommit && w.isStale(k)", "false"}),
	}
}
