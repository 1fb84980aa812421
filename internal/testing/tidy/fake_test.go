package tidy

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// page is an import table like the real one, in little.
const page = `# Architecture

| not | the | table |
|---|---|---|

| tier | package | may import (ours) | holds |
|---|---|---|---|
| 0 words | ` + "`internal/set`" + ` | - | sets |
| 0 | ` + "`internal/base/wire`" + ` | set | bytes |
| 1 rules | ` + "`internal/protocol/flood`" + ` | tier 0 | broadcast |
| 1 | ` + "`fd`" + ` | tier 0, flood | detector |
| 1 | ` + "`era`" + ` | tier 0 | agreement |
| 1 | ` + "`era/onenode`" + ` | tier 0, era | (planned) the same |
| 1 | ` + "`internal/protocol/control`" + ` | tiers 0-1 | all rules |
| 2 machinery | ` + "`transport`, `transport/shm`" + ` | set | frames |
| 2 | ` + "`internal/engine`" + ` | tiers 0-2 above, transport/* | the loop |
| 3 public | ` + "`comm`" + ` | fd (its Config), engine | for users |
| 4 programs | ` + "`examples/*`" + ` | tier 3 only | programs |
| 4 | ` + "`examples/odd`" + ` | set | one with a row of its own |

| tier | package | may import (ours) | holds |
|---|---|---|---|
| 9 | not | read | any more |
`

// fake returns a tree with the little table and the given files.
func fake(t *testing.T, files map[string]string) (*Tree, *Table) {
	t.Helper()
	m := fstest.MapFS{
		"go.mod":  {Data: []byte("module example.org/m\n\ngo 1.26\n")},
		TablePath: {Data: []byte(page)},
	}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := Load(m)
	if err != nil {
		t.Fatal(err)
	}
	table, err := ReadTable(m)
	if err != nil {
		t.Fatal(err)
	}
	return tree, table
}

// want compares findings with the text that each must contain, in any order.
func want(t *testing.T, found []Finding, parts ...string) {
	t.Helper()
	left := map[string]bool{}
	for _, f := range found {
		left[f.String()] = true
	}
	for _, part := range parts {
		i := slices.IndexFunc(slices.Sorted(maps.Keys(left)), func(s string) bool { return strings.Contains(s, part) })
		if i < 0 {
			t.Errorf("no finding with %q", part)
			continue
		}
		delete(left, slices.Sorted(maps.Keys(left))[i])
	}
	for f := range left {
		t.Errorf("unexpected finding: %s", f)
	}
}

// importing is a package that imports folders of the fake module.
func importing(name string, dirs ...string) string {
	src := "// Package " + name + " is fake.\npackage " + name + "\n"
	for _, d := range dirs {
		src += "import _ \"example.org/m/" + d + "\"\n"
	}
	return src
}
