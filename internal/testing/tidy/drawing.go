package tidy

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// layers are the groups of packages from the bottom to the top. A package may import groups of its
// own layer and of lower ones, so the drawing has no arrow that points upwards.
var layers = [][]string{
	{"internal/base"},
	{"ulfm", "era", "fd", "internal/protocol", "internal/ckpt"},
	{"internal/shm"},
	{"internal/net"},
	{"internal/engine", "internal/joblaunch"},
	{"internal/commhooks"},
	{"comm"},
	{"collectives"},
	{"rma", "recovery"},
	{"shmem"},
	{"internal/testing"},
	{"cmd", "conformance", "stress", "bench"},
}

// The drawing in ARCHITECTURE.md lies between these lines.
const drawingBegin, drawingEnd = "<!-- drawing of the groups -->\n", "<!-- end of the drawing -->\n"

// Drawing compares the drawing of the groups of packages in ARCHITECTURE.md with the imports of the
// code, and requires that no group imports one of a higher layer.
func Drawing(t *Tree) ([]Finding, error) {
	page, err := fs.ReadFile(t.Files, TablePath)
	if err != nil {
		return nil, err
	}
	want, found := drawing(t)
	if !strings.Contains(string(page), drawingBegin+want+drawingEnd) {
		found = append(found, Finding{TablePath, "the drawing of the groups is old: go test ./internal/testing/tidy -run Drawing -update"})
	}
	return found, nil
}

// drawing returns the arrows between groups as a Mermaid flow chart. An arrow that other arrows
// imply is left out.
func drawing(t *Tree) (string, []Finding) {
	layer := map[string]int{}
	for i, groups := range layers {
		for _, g := range groups {
			layer[g] = i
		}
	}
	arrows := map[string]map[string]bool{}
	var found []Finding
	for _, p := range t.Packages {
		from, ok := groupOf(p.Dir, layer)
		if !ok {
			continue
		}
		if arrows[from] == nil {
			arrows[from] = map[string]bool{}
		}
		for _, f := range p.code() {
			for _, spec := range f.AST.Imports {
				importPath, _ := strconv.Unquote(spec.Path.Value) // checked by the parser
				dir, ours := t.ours(importPath)
				to, listed := groupOf(dir, layer)
				if !ours || !listed || to == from {
					continue
				}
				arrows[from][to] = true
				if layer[to] > layer[from] {
					found = append(found, t.finding(spec, "%s may not import %s: %s is in a higher layer than %s", p.Dir, dir, to, from))
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for i, groups := range slices.Backward(layers) {
		for _, g := range groups {
			if arrows[g] != nil {
				fmt.Fprintf(&b, "  %s[%s]\n", node(g), g)
			}
		}
		for _, g := range groups {
			for _, to := range slices.Sorted(maps.Keys(arrows[g])) {
				if layer[to] == i || !implied(arrows, g, to) {
					fmt.Fprintf(&b, "  %s --> %s\n", node(g), node(to))
				}
			}
		}
	}
	b.WriteString("```\n")
	return b.String(), found
}

// groupOf returns the group of the folder: the folder below internal, or the one at the root.
func groupOf(dir string, layer map[string]int) (string, bool) {
	parts := strings.SplitN(dir, "/", 3)
	group := parts[0]
	if group == "internal" && len(parts) > 1 {
		group += "/" + parts[1]
	}
	_, listed := layer[group]
	return group, listed
}

func node(group string) string { return strings.ReplaceAll(group, "/", "_") }

// implied reports whether to can be reached from a group by way of another one.
func implied(arrows map[string]map[string]bool, from, to string) bool {
	seen := map[string]bool{from: true}
	var reaches func(g string) bool
	reaches = func(g string) bool {
		if seen[g] {
			return false
		}
		seen[g] = true
		for next := range arrows[g] {
			if next == to || reaches(next) {
				return true
			}
		}
		return false
	}
	for next := range arrows[from] {
		if next != to && reaches(next) {
			return true
		}
	}
	return false
}

// withDrawing returns the page with the present drawing.
func withDrawing(t *Tree, page string) (string, error) {
	chart, _ := drawing(t)
	return withPart(TablePath, page, drawingBegin, drawingBegin+chart+drawingEnd, drawingEnd)
}
