package clihelp

import (
	"fmt"
	"strings"
)

// Zsh returns a script for zsh. It can be sourced, or be a file _PROG of a folder in fpath.
func (p Program) Zsh() string {
	b := &strings.Builder{}
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	line("#compdef %s", p.Name)
	line("# Completion of %s for zsh: source <(%s completion zsh)", p.Name, p.Name)
	line("\n_%s() {\n\tlocal curcontext=$curcontext state line\n\tlocal -A opt_args\n\tlocal -a commands", p.Name)
	line("\t_arguments -C '1:command:->command' '*::argument:->argument'\n\tcase $state in\n\tcommand)\n\t\tcommands=(")
	for _, c := range p.Commands {
		line("\t\t\t%s", quoted(c.Name+":"+zshText(c.Short)))
	}
	line("\t\t)\n\t\t_describe command commands\n\t\t;;\n\targument)\n\t\tcase $words[1] in")
	for _, c := range p.Commands {
		line("\t\t%s)\n\t\t\t_arguments -A '-*' \\", c.Name)
		for _, flag := range c.Help.Flags() {
			for _, spec := range p.zshFlag(c, flag) {
				line("\t\t\t\t%s \\", spec)
			}
		}
		for i, placeholder := range c.Arguments {
			number := fmt.Sprint(i + 1)
			if strings.HasSuffix(placeholder, "...") {
				number = "*"
			}
			line("\t\t\t\t%s \\", quoted(number+p.zshValue(placeholder)))
		}
		line("\t\t\t\t'(- *)-h[print the help text]'\n\t\t\t;;")
	}
	line("\t\tesac\n\t\t;;\n\tesac\n}")
	line("\nif [[ $funcstack[1] == _%[1]s ]]; then _%[1]s \"$@\"; else compdef _%[1]s %[1]s; fi", p.Name)
	return b.String()
}

// zshFlag returns one specification for each name of a flag, which excludes the other names.
func (p Program) zshFlag(c Command, flag Item) []string {
	var specs []string
	for _, name := range flag.Names {
		spec := name
		if flag.Value != "" && strings.HasPrefix(name, "--") {
			spec += "="
		}
		spec += "[" + zshText(flag.summary()) + "]"
		if flag.Value != "" {
			spec += p.zshValue(flag.Value)
		}
		switch {
		case c.repeats(flag):
			spec = "*" + spec
		case len(flag.Names) > 1:
			spec = "(" + strings.Join(flag.Names, " ") + ")" + spec
		}
		specs = append(specs, quoted(spec))
	}
	return specs
}

// zshText escapes the characters that end a part of a specification.
func zshText(text string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, "[", `\[`, "]", `\]`).Replace(text)
}

func (p Program) zshValue(placeholder string) string {
	message := ":" + zshText(strings.TrimSuffix(placeholder, "...")) + ":"
	switch kind, words := p.words(placeholder); kind {
	case Words:
		return message + "(" + strings.Join(words, " ") + ")"
	case Files:
		return message + "_files"
	case Folders:
		return message + "_files -/"
	}
	return message + " "
}
