package main

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(
		html.WithUnsafe(), // the pages are the repository's own
		renderer.WithNodeRenderers(util.Prioritized(codeBlocks{}, 100)),
	),
)

// addMarkdown makes the page of a Markdown file.
func (s *site) addMarkdown(p string) error {
	source, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(p)))
	if err != nil {
		return err
	}
	name, err := s.pageOf(p)
	if err != nil {
		return err
	}
	content, heads, err := s.render(name, path.Dir(p), source)
	if err != nil {
		return err
	}
	title := p
	for _, h := range heads {
		if h.Level == 1 {
			title = h.Text
			break
		}
	}
	s.pages[name] = &page{name: name, title: title, content: content, heads: heads, from: p}
	return nil
}

// render returns the HTML and the headings of Markdown with links relative to the folder dir.
func (s *site) render(name, dir string, source []byte) (template.HTML, []heading, error) {
	doc := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&slugs{used: map[string]int{}}))))
	var heads []heading
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			heads = append(heads, heading{ID: string(id.([]byte)), Text: plain(n, source), Level: n.Level})
		case *ast.Link:
			n.Destination, err = s.referBytes(name, dir, n.Destination)
		case *ast.Image:
			n.Destination, err = s.referBytes(name, dir, n.Destination)
		case *ast.AutoLink:
			s.external[string(n.URL(source))] = true
		}
		return ast.WalkContinue, err
	})
	if err != nil {
		return "", nil, err
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	// A wide table or block scrolls by itself: the page never does.
	wrapped := strings.NewReplacer("<table>", `<div class="wide"><table>`, "</table>", "</table></div>").Replace(b.String())
	return template.HTML(wrapped), heads, nil
}

func (s *site) referBytes(name, dir string, target []byte) ([]byte, error) {
	to, err := s.refer(name, dir, string(target))
	return []byte(to), err
}

// plain returns the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// slugs gives headings the same addresses as forges do: lower case, blanks as hyphens, no other
// punctuation, and a number from the second of the same text on.
type slugs struct{ used map[string]int }

// Generate implements [parser.IDs].
func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := slug(string(value))
	n := s.used[id]
	s.used[id]++
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

// Put implements [parser.IDs].
func (s *slugs) Put(value []byte) { s.used[string(value)]++ }

func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(text)) {
		switch {
		case r == ' ' || r == '-':
			b.WriteByte('-')
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// codeBlocks colours the fenced blocks that name a language.
type codeBlocks struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (codeBlocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		block := n.(*ast.FencedCodeBlock)
		var code strings.Builder
		for i := range block.Lines().Len() {
			line := block.Lines().At(i)
			code.Write(line.Value(source))
		}
		text, err := coloured(string(block.Language(source)), code.String(), false)
		if err == nil {
			_, err = w.WriteString(string(text))
		}
		return ast.WalkSkipChildren, err
	})
}
