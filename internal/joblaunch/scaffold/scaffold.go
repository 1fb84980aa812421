// Package scaffold writes the beginning of a program that outlives its processes: one that runs, is
// tested with deaths, and is short enough to be replaced line by line.
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

// A Program is what to write.
type Program struct {
	Name    string // of the folder, the module and the command
	Bag     bool   // independent tasks instead of steps
	Version string // of goulfm, for go.mod: v1.2.3
	Replace string // a folder with goulfm, for go.mod; empty: none
}

// ErrName says that a name is not one of a module.
var ErrName = errors.New("a name has letters, digits, - and _, and begins with a letter")

// Module is the path of this library.
const Module = "github.com/goulfm/goulfm"

// Write makes the folder, which must not be there, with the files of the program.
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

// title is the name as the documentation of a command begins with it.
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
