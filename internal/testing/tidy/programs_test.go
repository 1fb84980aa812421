package tidy

import "testing"

func TestEveryProgramIsListed(t *testing.T) {
	tree, _ := repository(t)
	found, err := Programs(tree)
	report(t, found, err)
}

func TestProgramsOnFakeTrees(t *testing.T) {
	const (
		a = "| [a](a) | adds | `run a` | 1 s |\n"
		b = "| [b/c](b/c/) | bends | `run b` | 1 s |\n"
	)
	for _, c := range []struct {
		name, page string
		want       []string
	}{
		{"both", a + b, nil},
		{"text and other tables", "# x\n\n| a | b |\n|---|---|\n" + a + b + "\n[a](a)\n", nil},
		{"one is missing", a, []string{"has 0 rows for the program b/c"}},
		{"twice", a + a + b, []string{"has 2 rows for the program a"}},
		{"a package that is no program", a + b + "| [lib](lib) | x | `x` | 1 s |\n", []string{"lists lib, which is no program"}},
		{"gone", a + b + "| [z](z) | x | `x` | 1 s |\n", []string{"lists z, which is no program"}},
		{"order", b + a, []string{"not in the order"}},
		{"link", "| [a](b) | adds | `run a` | 1 s |\n" + b, []string{"the row of a has a link to b"}},
		{"no time", "| [a](a) | adds | `run a` |  |\n" + b, []string{"the row of a has no time"}},
		{"no command", "| [a](a) | adds | `` | 1 s |\n" + b, []string{"the row of a has no command"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _ := fake(t, map[string]string{
				"examples/a/main.go":      "// A adds.\npackage main\n",
				"examples/a/main_test.go": "package main\n",
				"examples/b/c/main.go":    "// C bends.\npackage main\n",
				"examples/lib/lib.go":     "// Package lib is a library.\npackage lib\n",
				"examples/README.md":      c.page,
			})
			found, err := Programs(tree)
			if err != nil {
				t.Fatal(err)
			}
			want(t, found, c.want...)
		})
	}
	tree, _ := fake(t, map[string]string{"bench/a/main.go": "// A adds.\npackage main\n"})
	if _, err := Programs(tree); err == nil {
		t.Error("a missing page is no error")
	}
	tree, _ = fake(t, map[string]string{"bench/a/a.go": "// Package a adds.\npackage a\n"})
	if found, err := Programs(tree); err != nil || len(found) > 0 {
		t.Error("a page is required without programs", found, err)
	}
}
