package edits

const (
	keepHome  = "internal/keep/home.go"
	keepWrite = "internal/keep/write.go"
	heritage  = "recovery/heritage.go"
)

// keeping are rules left out of node memory, and of what package recovery does with it.
func keeping() []Edit {
	edit := func(name, rule, test string, changes ...Change) Edit {
		return Edit{Name: "keep-" + name, Rule: rule, Changes: changes, Tests: []Test{{Run: test}}}
	}
	return []Edit{
		edit("owner", "a home has one owner, until that is reaped", "TestOwner",
			Change{keepHome, "CompareAndSwap64(word, 0, me)", "CompareAndSwap64(word, segment.Load64(word), me)"}),
		edit("free", "a chunk that a version has is not free", "TestRandomOwners",
			Change{keepWrite, "\th.live[slot], h.seq = v, v.root.seq\n\th.used = h.inUse()\n", "\th.live[slot], h.seq = v, v.root.seq\n"}),
		edit("last", "what a version is of is stored before its root", "TestDiesAtAnyStore",
			Change{keepWrite, "\tv, err := h.putTable(l, t, taken)\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn h.publish(slot, v)\n",
				"\tb := t.encode()\n\tv := &version{root{label: l, first: uint32(firstGap(taken, chunksOf(len(b)), 1)), bytes: uint32(len(b)), crc: checksum(b), seq: h.seq + 1}, t}\n" +
					"\tif err := h.publish(slot, v); err != nil {\n\t\treturn err\n\t}\n\tif err := h.Drop(func(old Label) bool { return old.Kind == l.Kind && old != l }); err != nil {\n\t\treturn err\n\t}\n" +
					"\t_, err = h.putTable(l, t, taken)\n\treturn err\n"}),
		edit("compare", "two chunks with one checksum are not one", "TestSameChecksum",
			Change{keepWrite, " == nil && bytes.Equal(buffer[:len(data)], data)", " == nil"}),
		edit("torn", "what has changed is not what was written", "TestFlippedBits",
			Change{"internal/keep/read.go", "if checksum(b) != e.chunks[i].crc {", "if false {"}),
		edit("others", "the lowest rank of a node reads what ranks have left that are not there any more", "TestAnotherNode",
			Change{heritage, "r.inherit(other) {", "other == nil {"}),
		edit("restored", "what is restored is in the home when Protect returns", "TestNodeLost$",
			Change{"recovery/store.go", "\tok = ok && r.keepRestored(p)\n", ""}),
		edit("agreed", "memory says that something was committed, also when all have died", "TestNodeLostByAll",
			Change{"recovery/calls.go", "\t\tmine.Committed = r.home.committed\n", ""}),
		edit("stale", "what attempts before have left is forgotten", "TestManyAttempts",
			Change{"recovery/home.go", "k.Kind == ofCommit && w.isStale(k)", "false"}),
	}
}
