package clihelp

import (
	"slices"
	"strings"
)

// A Program is a command with subcommands.
type Program struct {
	Name, Short, Version string
	Examples             []Example
	Commands             []Command
}

// A Command is a subcommand.
type Command struct {
	Name, Synopsis, Short string
	Arguments             []string // placeholders, in order; "..." after the last one repeats it
	Repeats               []string // flags that may be given several times, without dashes
	Help                  Help
}

func (p Program) names() []string {
	var names []string
	for _, c := range p.Commands {
		names = append(names, c.Name)
	}
	return names
}

// words returns the words that a placeholder stands for, and its kind, which is never Commands.
func (p Program) words(placeholder string) (Kind, []string) {
	kind, words := KindOf(placeholder)
	if kind == Commands {
		return Words, p.names()
	}
	return kind, words
}

// bare returns the name of a flag without its dashes.
func bare(flag string) string { return strings.TrimLeft(flag, "-") }

func (c Command) repeats(flag Item) bool {
	return slices.ContainsFunc(flag.Names, func(name string) bool { return slices.Contains(c.Repeats, bare(name)) })
}

// quoted returns a text in single quotes, for bash and zsh.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
