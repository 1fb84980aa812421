package tidy

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestImportsOnFakeTrees(t *testing.T) {
	set := map[string]string{"internal/set/a.go": importing("set")}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"missing packages are fine", set, nil},
		{"a name", map[string]string{"internal/base/wire/a.go": importing("wire", "internal/set")}, nil},
		{"a tier", map[string]string{"fd/a.go": importing("fd", "internal/set", "internal/base/wire", "internal/protocol/flood")}, nil},
		{"tiers, of which the own row's are above", map[string]string{"internal/protocol/control/a.go": importing("control", "internal/set", "era", "fd")}, nil},
		{"a name with a remark, a name in internal", map[string]string{"comm/a.go": importing("comm", "fd", "internal/engine")}, nil},
		{"all below", map[string]string{"internal/engine/a.go": importing("engine", "transport/shm")}, nil},
		{"a tier only", map[string]string{"examples/x/a.go": importing("main", "comm")}, nil},
		{"a folder deeper down", map[string]string{"examples/x/y/a.go": importing("main", "comm")}, nil},
		{"the row of its own goes first", map[string]string{"examples/odd/a.go": importing("main", "internal/set")}, nil},
		{"tests are free", map[string]string{"internal/set/a.go": importing("set"), "internal/set/a_test.go": importing("set", "comm")}, nil},
		{"testdata is not code", map[string]string{"era/testdata/x/a.go": importing("x", "comm")}, nil},

		{"unlisted", map[string]string{"other/a.go": importing("other")}, []string{"other: not in the import table"}},
		{"unlisted, tests only", map[string]string{"other/a_test.go": importing("other")}, []string{"other: not in the import table"}},
		{"the root is a package too", map[string]string{"a.go": importing("m")}, []string{".: not in the import table"}},
		{"planned but there", map[string]string{"era/onenode/a.go": importing("onenode", "comm")}, []string{`era/onenode: exists: remove the mark "(planned)" at docs/ARCHITECTURE.md:13`}},
		{"upwards", map[string]string{"internal/set/a.go": importing("set", "internal/base/wire")}, []string{"internal/set/a.go:3: internal/set may not import internal/base/wire: it does not stand above"}},
		{"upwards within an admitted tier", map[string]string{"internal/protocol/flood/a.go": importing("flood", "internal/protocol/control")}, []string{"it does not stand above"}},
		{"sideways within a row", map[string]string{"transport/shm/a.go": importing("shm", "transport")}, []string{"it does not stand above"}},
		{"above but not named", map[string]string{"era/a.go": importing("era", "internal/set", "internal/protocol/flood")}, []string{"era/a.go:4: era may not import internal/protocol/flood: docs/ARCHITECTURE.md:12 does not name it"}},
		{"a tier not named", map[string]string{"examples/x/a.go": importing("main", "internal/set")}, []string{"does not name it"}},
		{"nobody", map[string]string{"internal/set/a.go": importing("set", "internal/set/sub")}, []string{"not in the import table"}},
		{"hidden from this build", map[string]string{"era/a.go": importing("era"), "era/a_plan9.go": importing("era", "comm")}, []string{"era may not import comm"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, table := fake(t, c.files)
			want(t, Imports(tree, table), c.want...)
		})
	}
}

func TestTableMistakes(t *testing.T) {
	const head = "| tier | package | may import (ours) | holds |\n|---|---|---|---|\n"
	for _, c := range []struct{ name, page, want string }{
		{"no table", "# nothing\n", "no table with the header"},
		{"cells", head + "| 0 | `a` | - |\n", "3 cells instead of 4"},
		{"tier", head + "| words | `a` | - | x |\n", "number of the tier"},
		{"package", head + "| 0 | a | - | x |\n", "no `package`"},
		{"twice", head + "| 0 | `a` | - | x |\n| 1 | `b`, `a` | - | x |\n", "a is listed on line 3 already"},
		{"unknown name", head + "| 0 | `a` | b | x |\n| 0 | `b` | - | x |\n", `no row above is called "b"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadTable(fstest.MapFS{TablePath: {Data: []byte(c.page)}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
	if _, err := ReadTable(fstest.MapFS{}); err == nil {
		t.Error("a missing page is no error")
	}
}

func TestTableEndsWhereTheTableEnds(t *testing.T) {
	_, table := fake(t, nil)
	if n := len(table.Rows); n != 12 {
		t.Errorf("%d rows instead of 12", n)
	}
	if last := table.Rows[10]; last.Tier != 4 || last.Packages[0] != "examples/*" || last.May[0] != (Term{Low: 3, High: 3}) {
		t.Errorf("last row read as %+v", last)
	}
}

func TestLoadMistakes(t *testing.T) {
	mod := &fstest.MapFile{Data: []byte("module m\n")}
	for name, files := range map[string]fstest.MapFS{
		"no go.mod":      {},
		"no module line": {"go.mod": {Data: []byte("go 1.26\n")}},
		"no Go":          {"go.mod": mod, "a/a.go": {Data: []byte("pack age\n")}},
	} {
		if _, err := Load(files); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}
