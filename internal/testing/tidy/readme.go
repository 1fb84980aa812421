package tidy

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// Readme compares each block of Go in README.md with the examples: one of them must
// be the text of a program, from its package clause on, or hold the lines of another
// block. So the tests compile and run each program that a reader copies.
func Readme(t *Tree) ([]Finding, error) {
	page, err := fs.ReadFile(t.Files, "README.md")
	if err != nil {
		return nil, err
	}
	var programs, fragments []string
	for _, b := range goBlock.FindAllSubmatch(page, -1) {
		if text := strings.TrimSpace(string(b[1])); strings.HasPrefix(text, "package main\n") {
			programs = append(programs, text)
		} else {
			fragments = append(fragments, text)
		}
	}
	if len(programs) == 0 {
		return []Finding{{"README.md", "no program: a block ```go that begins with package main"}}, nil
	}
	examples, err := examples(t)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, p := range programs {
		if !slices.Contains(examples, p) {
			found = append(found, Finding{"README.md", "a program that is the text of no file in examples"})
		}
	}
	for _, f := range fragments {
		if !slices.ContainsFunc(examples, func(e string) bool { return strings.Contains(flat(e), flat(f)) }) {
			found = append(found, Finding{"README.md", "lines of Go that no file in examples has: " + f})
		}
	}
	return found, nil
}

// flat takes the indentation from the lines of a text.
func flat(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, "\t")
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}

// examples returns the text of every file in examples, from its package clause on.
func examples(t *Tree) ([]string, error) {
	var texts []string
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
			texts = append(texts, strings.TrimSpace(string(src[start:])))
		}
	}
	return texts, nil
}
