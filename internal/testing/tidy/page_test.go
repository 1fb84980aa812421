package tidy

import (
	"io/fs"
	"strings"
	"testing"
)

func TestCommentsOnFakeTrees(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"library", map[string]string{"era/a.go": "// Package era is fake.\npackage era\n", "era/b.go": "package era\n"}, nil},
		{"program", map[string]string{"examples/x/a.go": "// X is a program.\npackage main\n"}, nil},
		{"tests only", map[string]string{"era/a_test.go": "// Package era is fake.\npackage era\n"}, nil},
		{"none", map[string]string{"era/a.go": "package era\n"}, []string{"era: no package comment"}},
		{"a build line is no comment", map[string]string{"era/a.go": "//go:build linux\npackage era\n"}, []string{"era: no package comment"}},
		{"that of the tests does not count", map[string]string{"era/a.go": "package era\n", "era/a_test.go": "// Package era is fake.\npackage era\n"}, []string{"era: no package comment"}},
		{"another name", map[string]string{"era/a.go": "// Package fd is fake.\npackage era\n"}, []string{`must begin "Package era "`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _ := fake(t, c.files)
			want(t, Comments(tree), c.want...)
		})
	}
}

func TestReadmeOnFakeTrees(t *testing.T) {
	const program = "package main\n\nfunc main() {}\n"
	example := map[string]string{
		"examples/hello/main.go": "// Hello says hello.\n" + program,
		"examples/other/main.go": "// Other does more.\npackage main\n\nfunc main() {\n\tf()\n\tg()\n}\n",
	}
	for _, c := range []struct{ name, readme, want string }{
		{"the same", "# m\n```go\n" + program + "```\n", ""},
		{"a fragment besides", "```go\nf()\ng()\n```\n```go\n" + program + "```\n", ""},
		{"a fragment of none", "```go\nf()\nh()\n```\n```go\n" + program + "```\n", "no file in examples has: f()"},
		{"half a line", "```go\nf(\n```\n```go\n" + program + "```\n", "no file in examples has: f("},
		{"another", "```go\npackage main\n\nfunc main() { f() }\n```\n", "text of no file in examples"},
		{"one of two", "```go\n" + program + "```\n```go\n" + program + "// more\n```\n", "text of no file in examples"},
		{"none", "# m\n```sh\nmake\n```\n", "no program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			example["README.md"] = c.readme
			tree, _ := fake(t, example)
			found, err := Readme(tree)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				want(t, found)
			} else {
				want(t, found, c.want)
			}
		})
	}
	tree, _ := fake(t, nil)
	if _, err := Readme(tree); err == nil {
		t.Error("a missing README is no error")
	}
}

func TestTextOnFakeTrees(t *testing.T) {
	// Put together here, so that this file passes the check on the repository.
	slash, dot := "/", "."
	for _, c := range []struct{ name, path, text, want string }{
		{"clean", "a.md", "to do it, go to the work" + slash + "root folder; $(pwd)" + slash + "work; x." + slash + "work; XX" + "XXXX", ""},
		{"marker", "a.go.txt", "one\n// TO" + "DO: more", "a.go.txt:2: "},
		{"second marker", "Makefile", "# FIX" + "ME later", "half done"},
		{"third marker", "docs/a.md", "XX" + "X", "half done"},
		{"checkout", "docs/a.md", "see `" + slash + "work/main/x`", "path of one machine"},
		{"start of line", "docs/a.md", slash + "root" + slash + "go", "path of one machine"},
		{"bare", ".ci/run", "cd " + slash + "work", "path of one machine"},
		{"in quotes", "a.sh", `x="` + slash + `root"`, "path of one machine"},
		{"registry", ".golangci.yml", "https://proxy" + dot + "golang.org/x", "host of a registry"},
		{"images", "Dockerfile", "FROM ghcr" + dot + "io/x/y", "host of a registry"},
		{"mirror", "a.md", "artifactory" + dot + "example.org", "host of a registry"},
		{"setting", "Makefile", "export GO" + "PROXY := x", "a user's choice"},
		{"fuzz corpus", "era/testdata/fuzz/FuzzX/1", "TO" + "DO", ""},
		{"sums", "go.sum", slash + "work" + slash, ""},
		{"binary", "heat", "\x00 TO" + "DO", ""},
		{"git's own", ".git/x", "TO" + "DO", ""},
		{"git's own, in a second working tree", ".git", "TO" + "DO", ""},
		{"golden output", "era/testdata/x.txt", "TO" + "DO", "half done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _ := fake(t, map[string]string{c.path: c.text})
			found, err := Text(tree)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				want(t, found)
			} else {
				want(t, found, c.want)
			}
		})
	}
}

func TestRulesOnFakePages(t *testing.T) {
	tree, _ := repository(t)
	text, err := fs.ReadFile(tree.Files, RulesPath)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, c := range []struct{ name, from, to, want string }{
		{"missing", "| A23 |", "| A25 |", "0 rows for rule A23"},
		{"twice", "| B2 |", "| B1 |", "2 rows for rule B1 instead"},
		{"new", "| A1 |", "| A29 |", "rule A29 is above the last number"},
		{"no sentence", "| R1 | No call", "| R1 | | No call", "R1 is not a sentence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakeTree, _ := fake(t, map[string]string{RulesPath: strings.Replace(page, c.from, c.to, 1)})
			found, err := Rules(fakeTree)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				if strings.Contains(f.String(), c.want) {
					return
				}
			}
			t.Errorf("no finding with %q in %v", c.want, found)
		})
	}
}
