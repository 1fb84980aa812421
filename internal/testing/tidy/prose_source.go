package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	commentColumns = 100
	tabColumns     = 4
)

// countSource adds the comments of a file, and of files that are no tests the usage texts, log
// lines and error strings as well.
func (t *Tree) countSource(c *counts, f *File) error {
	if ast.IsGenerated(f.AST) {
		return nil
	}
	src, err := fs.ReadFile(t.Files, f.Path)
	if err != nil {
		return err
	}
	for _, g := range f.AST.Comments {
		at := fmt.Sprintf("%s:%d", f.Path, t.fset.Position(g.Pos()).Line)
		c.countText(at, commentText(g), true)
	}
	c.countLines(f.Path, src)
	if !f.Test {
		for _, s := range proseStrings(f.AST) {
			c.countText(fmt.Sprintf("%s:%d", f.Path, t.fset.Position(s.pos).Line), s.text, true)
		}
	}
	return nil
}

// countLines counts the lines that hold nothing but a comment, and the wide ones of these.
func (c *counts) countLines(path string, src []byte) {
	n := 0
	for line := range bytes.Lines(src) {
		n++
		trimmed := bytes.TrimSpace(line)
		if !bytes.HasPrefix(trimmed, []byte("//")) || directive.Match(trimmed) {
			continue
		}
		c.lines++
		tabs := bytes.Count(line[:bytes.IndexByte(line, '/')], []byte("\t"))
		if utf8.RuneCount(trimmed)+tabColumns*tabs > commentColumns {
			c.wide++
			c.note("wide", fmt.Sprintf("%s:%d", path, n))
		}
	}
}

var directive = regexp.MustCompile(`^//(go:|nolint|lint:|\s*\+build)`)

// commentText returns the prose of a comment as paragraphs. Lines that godoc shows as code,
// such as schedules in columns, are left out, and each item of a list is a paragraph.
func commentText(g *ast.CommentGroup) string {
	var b strings.Builder
	for _, comment := range g.List {
		if directive.MatchString(comment.Text) {
			continue
		}
		text := strings.TrimSuffix(strings.TrimPrefix(comment.Text, "/*"), "*/")
		for line := range strings.Lines(text) {
			line = strings.TrimRight(strings.TrimPrefix(line, "//"), " \n")
			item, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
			switch {
			case isItem:
				b.WriteString("\n\n" + item + " ")
			case line == "", strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "     "), strings.HasPrefix(line, " #"):
				b.WriteString("\n\n")
			default:
				b.WriteString(strings.TrimSpace(line) + " ")
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// prose is a string of a program that a person may read.
type prose struct {
	pos  token.Pos
	text string
}

// sourceLike matches strings that hold code or the tag of a field: their words are not prose.
var sourceLike = regexp.MustCompile(`:=|\bfunc |\{\n|[=!]=|^\s*[{<]|^\w+:"`)

// proseStrings returns the strings of at least three words. Strings that are put together with
// plus are one.
func proseStrings(f *ast.File) []prose {
	var found []prose
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr, *ast.BasicLit:
			text, whole := literal(n.(ast.Expr))
			if text != "" && len(wordPattern.FindAllString(text, -1)) >= 3 && strings.Contains(text, " ") && !sourceLike.MatchString(text) {
				found = append(found, prose{n.Pos(), text})
			}
			return !whole
		}
		return true
	})
	return found
}

// literal returns the text of a string literal, or of a sum of literals and names. With whole,
// no part of the expression is left to visit.
func literal(e ast.Expr) (text string, whole bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", true
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, wholeLeft := literal(e.X)
		right, wholeRight := literal(e.Y)
		if wholeLeft && wholeRight {
			return left + right, true
		}
	case *ast.Ident:
		return " ", true
	}
	return "", false
}
