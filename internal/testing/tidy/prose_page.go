package tidy

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The bounds of a page, in columns and words.
const (
	pageColumns    = 120
	paragraphWords = 80
	bulletWords    = 40
	cellWords      = 20
)

// The bounds of README.md.
const (
	readmeLines     = 130
	readmeColumns   = 100
	readmeCellWords = 12
)

// ReadmeForm limits README.md in length, width and the words of a cell.
func ReadmeForm(t *Tree) ([]Finding, error) {
	text, err := fs.ReadFile(t.Files, "README.md")
	if err != nil {
		return nil, err
	}
	var found []Finding
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) > readmeLines {
		found = append(found, Finding{"README.md", fmt.Sprintf("%d lines are more than %d", len(lines), readmeLines)})
	}
	for i, line := range lines {
		at := fmt.Sprintf("README.md:%d", i+1)
		if n := utf8.RuneCountInString(line); n > readmeColumns {
			found = append(found, Finding{at, fmt.Sprintf("%d columns are more than %d", n, readmeColumns)})
		}
		for _, cell := range cells(plain(line)) {
			if n := len(wordPattern.FindAllString(cell, -1)); n > readmeCellWords {
				found = append(found, Finding{at, fmt.Sprintf("a cell of %d words instead of at most %d", n, readmeCellWords)})
			}
		}
	}
	return found, nil
}

type pageText struct{ path, text string }

// markdown returns every page of the tree in the order of paths.
func markdown(t *Tree) ([]pageText, error) {
	var pages []pageText
	err := fs.WalkDir(t.Files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (skipped(d.Name()) || notOurText(p)):
			return fs.SkipDir
		case path.Ext(p) != ".md":
			return nil
		}
		text, err := fs.ReadFile(t.Files, p)
		pages = append(pages, pageText{p, string(text)})
		return err
	})
	return pages, err
}

var (
	htmlTag  = regexp.MustCompile(`(?s)<!--.*?-->|<[A-Za-z/][^>]*>`)
	linkText = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	codeSpan = regexp.MustCompile("`[^`]*`")
	item     = regexp.MustCompile(`^\s*([*+-]|\d+\.)\s+`)
)

// countPage adds a page of Markdown. Blocks of code and headings are left out, and a span of
// code is one word.
func countPage(c *counts, path, text string) {
	b := block{c: c, path: path}
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		b.line = i + 1
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			b.end()
			continue
		}
		if fenced {
			continue
		}
		c.lines++
		isRow := strings.HasPrefix(line, "|")
		if !isRow && utf8.RuneCountInString(line) > pageColumns {
			c.wide++
			c.note("wide", fmt.Sprintf("%s:%d", path, i+1))
		}
		switch {
		case isRow:
			b.end()
			b.row(line)
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"):
			b.end()
		case b.text == "" && strings.HasPrefix(line, "    ") && !item.MatchString(line): // code
		case item.MatchString(line):
			b.end()
			b.bullet = true
			b.start = i + 1
			b.text = item.ReplaceAllString(line, "")
		default:
			if b.text == "" {
				b.start = i + 1
			}
			b.text += "\n" + strings.TrimSpace(line)
		}
	}
	b.end()
}

// block collects the lines of one paragraph or item.
type block struct {
	c      *counts
	path   string
	line   int
	start  int
	bullet bool
	text   string
}

func (b *block) end() {
	if b.text == "" {
		return
	}
	text := plain(b.text)
	at := fmt.Sprintf("%s:%d", b.path, b.start)
	b.c.countText(at, text, true)
	words := len(wordPattern.FindAllString(text, -1))
	switch {
	case b.bullet && words > bulletWords:
		b.c.bullets++
		b.c.note("bullets", at)
	case !b.bullet && words > paragraphWords:
		b.c.paragraphs++
		b.c.note("paragraphs", at)
	}
	b.bullet, b.text = false, ""
}

// row adds the cells of one line of a table.
func (b *block) row(line string) {
	at := fmt.Sprintf("%s:%d", b.path, b.line)
	for _, cell := range cells(plain(line)) {
		b.c.countText(at, cell, false)
		if len(wordPattern.FindAllString(cell, -1)) > cellWords {
			b.c.cells++
			b.c.note("cells", at)
		}
	}
}

// plain takes the marks of Markdown from a text.
func plain(text string) string {
	text = codeSpan.ReplaceAllString(text, "X")
	text = linkText.ReplaceAllString(text, "$1")
	text = htmlTag.ReplaceAllString(text, " ")
	return strings.ReplaceAll(text, "**", "")
}
