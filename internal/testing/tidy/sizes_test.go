package tidy

import (
	"strings"
	"testing"
)

func TestNothingGrows(t *testing.T) {
	tree, _ := repository(t)
	report(t, Sizes(tree), nil)
}

func TestSizesOnFakeTrees(t *testing.T) {
	file := "// Package era is fake.\npackage era\n\ntype small struct{ a, b int }\n\ntype wide struct {\n" +
		strings.Repeat("\t_ int\n", usual["fields of"]+1) + "}\n\nfunc (w *wide) long() {\n" + strings.Repeat("\t_ = 0\n", usual["lines of function"]-1) + "}\n" +
		strings.Repeat("\nfunc (small) f() {}\n", usual["methods of"]+1)
	tree, _ := fake(t, map[string]string{"era/a.go": file, "era/b.go": "package era\n" + strings.Repeat("\n", 600)})
	want(t, sizes(tree, nil),
		"fields of era.wide: 31 are more than 30",
		"lines of function era.wide.long: 101 are more than 100",
		"methods of era.small: 66 are more than 65",
		"lines of file era/b.go: 601 are more than 600: cut it",
	)

	bounds := map[string]int{
		"fields of era.wide":              31,
		"lines of function era.wide.long": 100,
		"methods of era.small":            90,
		"lines of file era/b.go":          610,
		"lines of file era/c.go":          700,
	}
	want(t, sizes(tree, bounds),
		"lines of function era.wide.long: 101 are more than 100",
		"methods of era.small: only 66: lower its bound of 90",
		"lines of file era/c.go: is gone",
	)
}
