package tidy

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// GlossaryPath is the page of terms.
const GlossaryPath = "docs/GLOSSARY.md"

const glossaryTerms = 70

var term = regexp.MustCompile(`\*\*([^*]+)\*\*`)

// Glossary limits the number of terms on the page. It requires that each term stands there once
// and occurs in the code.
func Glossary(t *Tree) ([]Finding, error) {
	page, err := fs.ReadFile(t.Files, GlossaryPath)
	if err != nil {
		return nil, err
	}
	code, err := t.lowerCode()
	if err != nil {
		return nil, err
	}
	var found []Finding
	lines := map[string]int{}
	for i, line := range strings.Split(string(page), "\n") {
		row := cells(line)
		if row == nil {
			continue
		}
		for _, m := range term.FindAllStringSubmatch(row[0], -1) {
			at := fmt.Sprintf("%s:%d", GlossaryPath, i+1)
			if lines[m[1]] > 0 {
				found = append(found, Finding{at, fmt.Sprintf("%s stands on line %d already", m[1], lines[m[1]])})
			}
			lines[m[1]] = i + 1
			if !bytes.Contains(code, []byte(strings.ToLower(m[1]))) {
				found = append(found, Finding{at, "no source file contains " + m[1]})
			}
		}
	}
	if len(lines) > glossaryTerms {
		found = append(found, Finding{GlossaryPath, fmt.Sprintf("%d terms are more than %d", len(lines), glossaryTerms)})
	}
	return found, nil
}

// lowerCode returns the text of all files that are no tests, in lower case.
func (t *Tree) lowerCode() ([]byte, error) {
	var all bytes.Buffer
	for _, p := range t.Packages {
		for _, f := range p.code() {
			src, err := fs.ReadFile(t.Files, f.Path)
			if err != nil {
				return nil, err
			}
			all.Write(bytes.ToLower(src))
		}
	}
	return all.Bytes(), nil
}
