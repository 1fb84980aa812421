package main

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
)

// coloured returns code as a block in which each word has a class for its colour. With numbered the
// block has line numbers, and each line has an address, such as #L12.
func coloured(language, code string, numbered bool) (template.HTML, error) {
	lexer := lexers.Get(language)
	if lexer == nil || language == "" {
		lexer = lexers.Get("plaintext")
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, code)
	if err != nil {
		return "", err
	}
	options := []html.Option{html.WithClasses(true), html.TabWidth(4)}
	if numbered {
		options = append(options, html.WithLineNumbers(true), html.WithLinkableLineNumbers(true, "L"))
	}
	var b bytes.Buffer
	err = html.New(options...).Format(&b, styles.Get("github"), tokens)
	return template.HTML(b.String()), err
}

// codeColors returns the style sheet of coloured, light and dark.
func codeColors() ([]byte, error) {
	var b bytes.Buffer
	f := html.New(html.WithClasses(true))
	// Each in a query of its own: a word with a colour in one alone must not have it in the other.
	for _, s := range []struct{ scheme, style string }{{"light", "github"}, {"dark", "github-dark"}} {
		fmt.Fprintf(&b, "@media (prefers-color-scheme: %s) {\n", s.scheme)
		if err := f.WriteCSS(&b, styles.Get(s.style)); err != nil {
			return nil, err
		}
		b.WriteString("}\n")
	}
	// The blocks have the background of the page's own style.
	return []byte(strings.ReplaceAll(b.String(), "background-color: #", "--unused: #")), nil
}

var languages = map[string]string{".go": "go", ".sh": "bash", ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".mod": "plaintext"}

// addSource makes the page of a source file.
func (s *site) addSource(p string) error {
	code, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(p)))
	if err != nil {
		return err
	}
	language := languages[path.Ext(p)]
	if path.Base(p) == "Makefile" {
		language = "make"
	}
	block, err := coloured(language, string(code), true)
	if err != nil {
		return err
	}
	name := path.Join("src", p+".html")
	up, err := s.refer(name, "", path.Dir(p))
	if err != nil {
		return err
	}
	content := fmt.Sprintf("<h1>%s</h1>\n<p>A file of <a href=%q>%s</a>.</p>\n%s", template.HTMLEscapeString(p), up, template.HTMLEscapeString(path.Dir(p)), block)
	s.pages[name] = &page{name: name, title: p, content: template.HTML(content)}
	return nil
}

// addFolder makes the page of a folder without README: the documentation of its package, if it has
// one, and its files.
func (s *site) addFolder(p string) error {
	entries, err := os.ReadDir(filepath.Join(s.root, filepath.FromSlash(p)))
	if err != nil {
		return err
	}
	name := path.Join("src", p, "index.html")
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n", template.HTMLEscapeString(p))
	if text := s.packageComment(name, p); text != "" {
		b.WriteString(text)
	}
	b.WriteString("<h2 id=\"files\">Files</h2>\n<ul>\n")
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata" {
			continue
		}
		to, err := s.refer(name, p, e.Name())
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "<li><a href=%q>%s</a></li>\n", to, template.HTMLEscapeString(e.Name()))
	}
	b.WriteString("</ul>\n")
	s.pages[name] = &page{name: name, title: p, content: template.HTML(b.String()), heads: []heading{{"files", "Files", 2}}}
	return nil
}
