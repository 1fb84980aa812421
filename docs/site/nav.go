package main

import (
	"path"
	"slices"
)

// A group is a section of the navigation. An entry has a file or folder of the repository, or the
// name of a page that the generator writes by itself.
type group struct {
	title   string
	entries []navEntry
}

type navEntry struct{ title, path, page string }

var groups = []group{
	{"Start", []navEntry{
		{title: "Overview", path: "README.md"},
		{title: "Tutorial", path: "docs/TUTORIAL.md"},
		{title: "Coming from MPI", path: "docs/FROM_MPI.md"},
		{title: "Examples", path: "examples/README.md"},
	}},
	{"Guides", []navEntry{
		{title: "Recovery", path: "docs/RECOVERY.md"},
		{title: "Several nodes", path: "docs/NODES.md"},
		{title: "Job engines", path: "docs/ENGINES.md"},
		{title: "One-sided windows", path: "docs/ONESIDED.md"},
		{title: "GridRPC", path: "gridrpc/README.md"},
	}},
	{"Reference", []navEntry{
		{title: "Packages", page: "pkg/index.html"},
		{title: "Commands", page: "commands/index.html"},
		{title: "Semantics", path: "docs/SEMANTICS.md"},
		{title: "Specifications", path: "docs/spec/README.md"},
		{title: "Glossary", path: "docs/GLOSSARY.md"},
		{title: "Changes", path: "CHANGELOG.md"},
	}},
	{"Inside", []navEntry{
		{title: "Architecture", path: "docs/ARCHITECTURE.md"},
		{title: "Performance", path: "docs/PERFORMANCE.md"},
		{title: "Measurements", path: "bench/README.md"},
		{title: "Working on goulfm", path: "docs/HACKING.md"},
		{title: "Contributing", path: "CONTRIBUTING.md"},
		{title: "Security", path: "SECURITY.md"},
	}},
}

type navGroup struct {
	Title string
	Links []navLink
}

type navLink struct {
	Title, Address string
	Here           bool
}

// navigation returns the sections with addresses as the page from has them.
func (s *site) navigation(from string) []navGroup {
	var all []navGroup
	for _, g := range groups {
		n := navGroup{Title: g.title}
		for _, e := range g.entries {
			to := e.page
			if to == "" {
				to, _ = s.pageOf(e.path) // assemble has read the file
			}
			s.links = append(s.links, link{from: from, to: to})
			n.Links = append(n.Links, navLink{e.title, relative(from, to, ""), from == to || e.page != "" && path.Dir(from) == path.Dir(to)})
		}
		all = append(all, n)
	}
	return slices.Clip(all)
}
