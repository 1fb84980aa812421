package tidy

import (
	"io/fs"
	"regexp"
	"strings"
)

var goBlock = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")

// Readme compares each program in README.md with the examples: one of them must
// be that text, from its package clause on. What a reader copies is thereby
// compiled and run by the tests.
func Readme(t *Tree) ([]Finding, error) {
	page, err := fs.ReadFile(t.Files, "README.md")
	if err != nil {
		return nil, err
	}
	blocks := goBlock.FindAllSubmatch(page, -1)
	if len(blocks) == 0 {
		return []Finding{{"README.md", "no program: a block ```go that begins with package main"}}, nil
	}
	examples, err := programs(t)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, b := range blocks {
		if !examples[strings.TrimSpace(string(b[1]))] {
			found = append(found, Finding{"README.md", "a program that is the text of no file in examples"})
		}
	}
	return found, nil
}

// programs returns the text of every file in examples, without what stands
// before its package clause.
func programs(t *Tree) (map[string]bool, error) {
	texts := map[string]bool{}
	for _, p := range t.Packages {
		if !strings.HasPrefix(p.Dir, "examples/") {
			continue
		}
		for _, f := range p.code() {
			src, err := fs.ReadFile(t.Files, f.Path)
			if err != nil {
				return nil, err
			}
			start := t.fset.Position(f.AST.Package).Offset
			texts[strings.TrimSpace(string(src[start:]))] = true
		}
	}
	return texts, nil
}
