// Package scaffold writes the beginning of a program that outlives its processes. The program runs,
// has a test with deaths, and is short enough to be replaced line by line. The command goulfm new
// is its only user.
//
// There are two kinds of programs, each a pair of templates: a program with steps (rod), in which
// each rank owns a block of cells, and a bag of independent tasks (bag). The names of the templates
// end with txt, so that a build of this module does not compile them. The test of this package
// parses the written files. The test of the command builds both kinds in a module of their own,
// runs their tests, and compares a run with a killed rank with an undisturbed run.
//
// Not promised: the text of the templates. An existing folder is never changed.
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed templates
var templates embed.FS

// A Program describes the program to write.
type Program struct {
	Name    string // of the folder, the module and the command
	Bag     bool   // independent tasks instead of steps
	Version string // of goulfm, for go.mod: v1.2.3
	Replace string // a folder with goulfm, for go.mod; empty: none
}

// ErrName reports that a name is not valid for a module.
var ErrName = errors.New("a name has letters, digits, - and _, and begins with a letter")

// Module is the path of this library.
const Module = "github.com/goulfm/goulfm"

// Write makes the folder, which must not exist, with the files of the program.
func (p Program) Write(dir string) error {
	if !valid(p.Name) {
		return fmt.Errorf("%q: %w", p.Name, ErrName)
	}
	kind := "rod"
	if p.Bag {
		kind = "bag"
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for name, template := range map[string]string{"main.go": kind + ".go.txt", "main_test.go": kind + "_test.go.txt"} {
		text, err := templates.ReadFile("templates/" + template)
		if err != nil {
			return err
		}
		if err := write(dir, name, strings.ReplaceAll(string(text), "NAME", p.title())); err != nil {
			return err
		}
	}
	return write(dir, "go.mod", p.module())
}

func write(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) //nolint:gosec // source that others may read
}

// title returns the name with an upper-case first letter, as the documentation of a command begins.
func (p Program) title() string { return strings.ToUpper(p.Name[:1]) + p.Name[1:] }

func (p Program) module() string {
	text := fmt.Sprintf("module %s\n\ngo 1.26\n\nrequire %s %s\n", p.Name, Module, p.Version)
	if p.Replace != "" {
		text += fmt.Sprintf("\nreplace %s => %q\n", Module, p.Replace)
	}
	return text
}

func valid(name string) bool {
	for i, c := range name {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}
