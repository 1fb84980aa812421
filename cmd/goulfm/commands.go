package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/base/clihelp"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
)

// A subcommand is a row of the list from which the dispatch, goulfm help, the completion and the
// man pages are made.
type subcommand struct {
	name, synopsis string
	short          string // its purpose, for goulfm help
	usage          string // its help text, in the form of package clihelp
	run            func(ctx context.Context, args []string) int
	register       func(*flag.FlagSet) // declares its flags; nil: no flags
	arguments      []string            // placeholders, in the form of package clihelp
	doctor         string              // a finding of goulfm doctor on which the command depends; "": none
}

func subcommands() []subcommand {
	return []subcommand{
		{name: "run", synopsis: "run [flags] PROGRAM|GO-PACKAGE [args...]", short: "start the ranks of a job", usage: runUsage, run: run,
			register: registerRun, arguments: []string{"FILE..."}, doctor: "memory between ranks"},
		{name: "daemon", synopsis: "daemon [flags] -- PROGRAM [args...]", short: "start the ranks of a job where an engine starts one daemon on each node", usage: daemonUsage, run: serveNode,
			register: registerDaemon, arguments: []string{"FILE..."}, doctor: "engine"},
		{name: "new", synopsis: "new [flags] NAME", short: "write the beginning of a program that outlives its processes", usage: newUsage,
			run:      func(_ context.Context, args []string) int { return begin(args, os.Stdout, os.Stderr) },
			register: new(newFlags).register, arguments: []string{"NAME"}},
		{name: "watch", synopsis: "watch [flags]", short: "print the events of processes of a job of goulfm run --watch", usage: watchUsage,
			run:      func(ctx context.Context, args []string) int { return watchJob(ctx, args, os.Stdout, os.Stderr) },
			register: new(watchFlags).register},
		{name: "doctor", synopsis: "doctor [flags]", short: "examine this machine and the job engine", usage: doctorUsage, run: doctorOrSibling,
			register: new(doctorFlags).register},
		{name: "sim", synopsis: "sim [flags]", short: "simulate a cluster in virtual time", usage: simUsage,
			run:      func(_ context.Context, args []string) int { return simulate(args) },
			register: new(simJob).register},
		{name: "checkpoint", synopsis: "checkpoint ls|verify|rm DIR", short: "list, verify or delete the versions that package recovery has written", usage: checkpointUsage,
			run:       func(ctx context.Context, args []string) int { return checkpoints(ctx, args, os.Stdout, os.Stderr) },
			arguments: []string{"ls|verify|rm", "DIR", "VERSION..."}},
		{name: "completion", synopsis: "completion bash|zsh|fish", short: "print the script that completes commands and flags in a shell", usage: completionUsage,
			run: printCompletion, arguments: []string{"bash|zsh|fish"}},
		{name: "man", synopsis: "man [COMMAND]", short: "print the man page of goulfm, or of a command", usage: manUsage,
			run: printMan, arguments: []string{"COMMAND"}},
		{name: "version", synopsis: "version", short: "print the versions of goulfm, Go and the machine", usage: versionUsage, run: printVersion},
		{name: "help", synopsis: "help [COMMAND]", short: "print this list, or the flags of a command and examples", usage: helpUsage,
			run: printHelp, arguments: []string{"COMMAND"}},
	}
}

const (
	purpose = "runs programs on several processes that survive each other's death"
	example = "goulfm run -n 8 --kill 3@step=40 ./examples/heat"
)

// usage returns the text of goulfm help.
func usage() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "goulfm %s.\n\n", purpose)
	for _, c := range subcommands() {
		fmt.Fprintf(b, "  goulfm %-42s %s\n", c.synopsis, c.short)
	}
	fmt.Fprintf(b, "\nAn example: %s\n", example)
	return b.String()
}

// find returns the command of a name.
func find(name string) (subcommand, bool) {
	all := subcommands()
	i := slices.IndexFunc(all, func(c subcommand) bool { return c.name == name })
	if i < 0 {
		return subcommand{}, false
	}
	return all[i], true
}

// flagSet returns the declared flags of the command, for their names and types.
func (c subcommand) flagSet() *flag.FlagSet {
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	if c.register != nil {
		c.register(f)
	}
	return f
}

// help returns the parsed help text. The text of goulfm daemon refers to the flags of goulfm run,
// so help adds the items of the flags that both commands have.
func (c subcommand) help() clihelp.Help {
	h := clihelp.Parse(c.usage)
	if c.name != "daemon" {
		return h
	}
	f := c.flagSet()
	for _, s := range clihelp.Parse(runUsage).Sections {
		s.Items = slices.DeleteFunc(slices.Clone(s.Items), func(i clihelp.Item) bool { return f.Lookup(strings.TrimLeft(i.Names[0], "-")) == nil })
		h.Sections = append(h.Sections, s)
	}
	return h
}

// repeats returns the flags that may be given several times: a list has no single value to get.
func (c subcommand) repeats() []string {
	var names []string
	c.flagSet().VisitAll(func(f *flag.Flag) {
		if _, single := f.Value.(flag.Getter); !single {
			names = append(names, f.Name)
		}
	})
	return names
}

// program returns the list in the form of package clihelp.
func program() clihelp.Program {
	p := clihelp.Program{Name: "goulfm", Short: purpose, Version: "goulfm " + release, Examples: []clihelp.Example{{Line: example}}}
	for _, c := range subcommands() {
		p.Commands = append(p.Commands, clihelp.Command{Name: c.name, Synopsis: c.synopsis, Short: c.short, Arguments: c.arguments, Repeats: c.repeats(), Help: c.help()})
	}
	return p
}

const completionUsage = `usage: goulfm completion bash|zsh|fish

Prints a script for a shell. The script completes commands, flags, values of flags and files.

  source <(goulfm completion bash)          in ~/.bashrc; the same with zsh in ~/.zshrc, below compinit
  goulfm completion fish                    | source, in ~/.config/fish/config.fish

Exit code: 0; 2 usage.
`

const manUsage = `usage: goulfm man [COMMAND]

Prints the man page of goulfm, or of one of its commands, in the macros of man(7).

  goulfm man run                                          goulfm-run(1) on standard output
  man <(goulfm man run)                                   in a pager

Exit code: 0; 2 usage.
`

const helpUsage = `usage: goulfm help [COMMAND]

Prints the list of commands, or the flags of a command with examples.

  goulfm help run

Exit code: 0; 2 usage.
`

// isHelp reports whether an argument requests the help text.
func isHelp(arg string) bool { return slices.Contains([]string{"-h", "--h", "-help", "--help"}, arg) }

// printText runs a command that prints a text for one optional argument. The function also handles
// requests for help and wrong arguments.
func (c subcommand) printText(args []string, text func(argument string) (string, bool)) int {
	argument := ""
	switch {
	case slices.ContainsFunc(args, isHelp):
		fmt.Print(c.usage)
		return 0
	case len(args) > 0:
		argument = args[0]
	}
	out, ok := text(argument)
	if !ok || len(args) > 1 {
		fmt.Fprint(os.Stderr, c.usage)
		return launch.ExitUsage
	}
	fmt.Print(out)
	return 0
}

func printCompletion(_ context.Context, args []string) int {
	c, _ := find("completion")
	return c.printText(args, func(shell string) (string, bool) {
		switch shell {
		case "bash":
			return program().Bash(), true
		case "zsh":
			return program().Zsh(), true
		case "fish":
			return program().Fish(), true
		}
		return "", false
	})
}

func printMan(_ context.Context, args []string) int {
	c, _ := find("man")
	return c.printText(args, program().Man)
}

func printHelp(ctx context.Context, args []string) int {
	if len(args) == 1 && !isHelp(args[0]) && args[0] != "help" {
		return command(ctx, []string{args[0], "-h"})
	}
	c, _ := find("help")
	if len(args) == 1 && args[0] == "help" {
		args = []string{"-h"}
	}
	return c.printText(args, func(argument string) (string, bool) { return usage(), argument == "" })
}
