package clihelp

import (
	"fmt"
	"strings"
)

// fishMain has the conditions of the completions. The words before the cursor are the program, the
// command, its flags and arguments.
const fishMain = `
function __PROG_no_command
    test (count (commandline -opc)) -eq 1
end

function __PROG_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = $argv[1]
end

complete -c PROG -f
`

// Fish returns a script for fish.
func (p Program) Fish() string {
	b := &strings.Builder{}
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	line("# Completion of %s for fish: %s completion fish | source", p.Name, p.Name)
	b.WriteString(strings.ReplaceAll(fishMain, "PROG", p.Name))
	for _, c := range p.Commands {
		line("complete -c %s -n __%s_no_command -a %s -d %s", p.Name, p.Name, c.Name, fishQuoted(c.Short))
	}
	for _, c := range p.Commands {
		is := fmt.Sprintf("complete -c %s -n '__%s_command %s'", p.Name, p.Name, c.Name)
		for _, flag := range c.Help.Flags() {
			text := is
			for _, name := range flag.Names {
				text += fishName(name)
			}
			if flag.Value != "" {
				text += p.fishValue(" -x", flag.Value)
			}
			line("%s -d %s", text, fishQuoted(flag.summary()))
		}
		line("%s -s h -d 'print the help text'", is)
		for i, placeholder := range c.Arguments {
			if text := p.fishValue("", placeholder); text != "" {
				line("%s%s", fishArgument(is, c, i), text)
			}
		}
	}
	return b.String()
}

// fishArgument adds the place of an argument to a condition, unless it is the place of all. A
// command with several arguments has no flags.
func fishArgument(is string, c Command, i int) string {
	if strings.HasSuffix(c.Arguments[i], "...") {
		return is
	}
	return fmt.Sprintf("%s; and test (count (commandline -opc)) -eq %d'", strings.TrimSuffix(is, "'"), i+2)
}

// fishName returns the name of a flag: a letter, a word after two dashes, or a word after one dash.
func fishName(name string) string {
	switch {
	case strings.HasPrefix(name, "--"):
		return " -l " + bare(name)
	case len(bare(name)) == 1:
		return " -s " + bare(name)
	}
	return " -o " + bare(name)
}

// fishValue returns the options of a value; alone excludes files.
func (p Program) fishValue(alone, placeholder string) string {
	switch kind, words := p.words(placeholder); kind {
	case Words:
		return alone + " -a " + fishQuoted(strings.Join(words, " "))
	case Files:
		if alone == "" {
			return " -F"
		}
		return " -r -F"
	case Folders:
		return alone + " -a '(__fish_complete_directories)'"
	}
	return alone
}

func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
