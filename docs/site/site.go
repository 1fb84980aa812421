package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// marker is a file of every site: without it, a folder is not replaced.
const marker = "site.css"

//go:embed style/*
var style embed.FS

// A page is one HTML page before its layout.
type page struct {
	name    string // its address below the root of the site
	title   string
	content template.HTML
	heads   []heading
	from    string // its file or folder in the repository, for the line below the page; "": none
}

type heading struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Level int    `json:"-"`
}

// A site is built by adding pages until no link refers to a page that is missing.
type site struct {
	root     string
	pages    map[string]*page // by name
	files    map[string][]byte
	wanted   []string // paths of the repository that need a page and have none yet
	seen     map[string]bool
	links    []link
	external map[string]bool
	resolved int
	packages []string          // folders of the public packages
	synopses map[string]string // of these, by folder
	version  string
}

func newSite(root string) *site {
	return &site{root: root, pages: map[string]*page{}, files: map[string][]byte{}, seen: map[string]bool{}, external: map[string]bool{}, synopses: map[string]string{}}
}

// A link is one reference between two pages of the site.
type link struct{ from, to, fragment string }

func assemble(root string, help func(string) (string, error)) (*site, error) {
	s := newSite(root)
	var err error
	if s.packages, err = publicPackages(root); err != nil {
		return nil, err
	}
	if s.version, err = versionOf(root); err != nil {
		return nil, err
	}
	for _, p := range s.packages {
		if err := s.addPackage(p); err != nil {
			return nil, err
		}
	}
	s.addPackageList()
	if err := s.addCommands(help); err != nil {
		return nil, err
	}
	for _, g := range groups {
		for _, e := range g.entries {
			if e.path != "" {
				s.want(e.path)
			}
		}
	}
	if err := s.addWanted(); err != nil {
		return nil, err
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	return s, s.checkLinks()
}

// publicPackages returns the folders of the packages that have a list of names in the folder api,
// and that of module gridrpc.
func publicPackages(root string) ([]string, error) {
	lists, err := filepath.Glob(filepath.Join(root, "api", "*.txt"))
	if err != nil || len(lists) == 0 {
		return nil, fmt.Errorf("no lists of public names in %s: %v", filepath.Join(root, "api"), err)
	}
	var folders []string
	for _, l := range lists {
		folders = append(folders, strings.ReplaceAll(strings.TrimSuffix(filepath.Base(l), ".txt"), "_", "/"))
	}
	return append(folders, "gridrpc"), nil
}

var release = regexp.MustCompile(`(?m)^## ([0-9]+\.[0-9]+\.[0-9]+)`)

// versionOf returns the newest version of CHANGELOG.md, or "next" before the first.
func versionOf(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	m := release.FindSubmatch(text)
	if m == nil {
		return "next", nil
	}
	return string(m[1]), nil
}

// want notes that the site needs the page of a file or folder of the repository.
func (s *site) want(p string) {
	if !s.seen[p] {
		s.seen[p] = true
		s.wanted = append(s.wanted, p)
	}
}

// addWanted makes the wanted pages, and those that these pages want.
func (s *site) addWanted() error {
	for len(s.wanted) > 0 {
		p := s.wanted[0]
		s.wanted = s.wanted[1:]
		if err := s.add(p); err != nil {
			return err
		}
	}
	return nil
}

// add makes the page of a file or a folder of the repository.
func (s *site) add(p string) error {
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(p)))
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return s.addFolder(p)
	case path.Ext(p) == ".md":
		return s.addMarkdown(p)
	case isPicture(p):
		s.files[p], err = os.ReadFile(filepath.Join(s.root, filepath.FromSlash(p)))
		return err
	}
	return s.addSource(p)
}

func isPicture(p string) bool { return slices.Contains([]string{".svg", ".png"}, path.Ext(p)) }

// pageOf returns the name of the page of a file or folder of the repository.
func (s *site) pageOf(p string) (string, error) {
	if slices.Contains(s.packages, p) && p != "gridrpc" {
		return packagePage(p), nil
	}
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(p)))
	if err != nil {
		return "", fmt.Errorf("the repository has no %s", p)
	}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(p), "README.md")); err == nil {
			p = path.Join(p, "README.md")
		} else {
			s.want(p)
			return path.Join("src", p, "index.html"), nil
		}
	}
	s.want(p)
	switch {
	case p == "README.md":
		return "index.html", nil
	case path.Base(p) == "README.md":
		return path.Join(path.Dir(p), "index.html"), nil
	case path.Ext(p) == ".md":
		return strings.TrimSuffix(p, ".md") + ".html", nil
	case isPicture(p):
		return p, nil
	}
	return path.Join("src", p+".html"), nil
}

// refer returns the address, relative to the page from, of a target that a file or folder of the
// repository has: a path relative to the folder dir, perhaps with a fragment.
func (s *site) refer(from, dir, target string) (string, error) {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		s.external[target] = true
		return target, nil
	}
	file, fragment, _ := strings.Cut(target, "#")
	to := from
	if file != "" {
		p := path.Join(dir, file)
		if p == ".." || strings.HasPrefix(p, "../") {
			return "", fmt.Errorf("%s: the link %q leaves the repository", from, target)
		}
		var err error
		if to, err = s.pageOf(p); err != nil {
			return "", fmt.Errorf("%s: the link %q: %w", from, target, err)
		}
	}
	s.links = append(s.links, link{from, to, fragment})
	return relative(from, to, fragment), nil
}

// relative returns the address of a page as a link on another has it.
func relative(from, to, fragment string) string {
	if fragment != "" {
		fragment = "#" + fragment
	}
	if from == to {
		return cmp.Or(fragment, path.Base(to))
	}
	r, err := filepath.Rel(path.Dir(from), to)
	if err != nil {
		panic(err) // both are relative
	}
	return filepath.ToSlash(r) + fragment
}

var layout = template.Must(template.ParseFS(style, "style/page.html"))

// finish lays the pages out, and adds the style, the script and the index for its search.
func (s *site) finish() error {
	for _, p := range s.pages {
		var b bytes.Buffer
		data := struct {
			Title, Version, Style, Script, Index, Home, From string
			Content                                          template.HTML
			Groups                                           []navGroup
			Heads                                            []heading
		}{
			Title: p.title, Version: s.version, From: p.from, Content: p.content, Groups: s.navigation(p.name), Heads: contents(p.heads),
			Style: relative(p.name, marker, ""), Script: relative(p.name, "site.js", ""), Index: relative(p.name, "index.js", ""), Home: relative(p.name, "index.html", ""),
		}
		if err := layout.Execute(&b, data); err != nil {
			return err
		}
		s.files[p.name] = b.Bytes()
	}
	for _, name := range []string{marker, "site.js"} {
		text, err := style.ReadFile("style/" + name)
		if err != nil {
			return err
		}
		s.files[name] = text
	}
	colors, err := codeColors()
	if err != nil {
		return err
	}
	s.files[marker] = append(s.files[marker], colors...)
	return s.addIndex()
}

// addIndex writes the list of pages and headings that the script searches. It is a script, too,
// because a browser reads no other file from disk.
func (s *site) addIndex() error {
	type entry struct {
		Page  string    `json:"page"`
		Title string    `json:"title"`
		Heads []heading `json:"heads"`
	}
	var all []entry
	for _, p := range s.pages {
		if !strings.HasPrefix(p.name, "src/") {
			all = append(all, entry{p.name, p.title, p.heads})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.Page, b.Page) })
	text, err := json.Marshal(all)
	s.files["index.js"] = fmt.Appendf(nil, "const pages = %s;\n", text)
	return err
}

// contents returns the headings of the list beside a page.
func contents(heads []heading) []heading {
	list := slices.DeleteFunc(slices.Clone(heads), func(h heading) bool { return h.Level != 2 })
	if len(list) < 2 {
		return nil
	}
	return list
}
