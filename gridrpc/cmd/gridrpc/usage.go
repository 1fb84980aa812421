package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/ranking"
)

// verb is a command of gridrpc. The name has two words where several belong together.
type verb struct {
	name   string
	args   string // after the flags
	does   string // one line, as an imperative
	more   string // of its help
	hidden bool   // "gridrpc up" runs it
	run    func(ctx context.Context, args []string) error
}

var verbs []verb

func init() { // the functions of verbs refer to verbs
	verbs = []verb{
		{name: "up", args: "PROGRAM [ARGUMENT...]", does: "start a platform, which ends with this command", run: up, more: upHelp},
		{name: "call", args: "SERVICE [JSON | @FILE | -]", does: "call a service and print the result as JSON", run: call, more: callHelp},
		{name: "attach", args: "[ID]", does: "print the result of a kept call; without ID list kept calls", run: attach},
		{name: "ls", does: "list servers and services", run: list},
		{name: "tree", does: "show the tree of agents and servers, and running calls", run: showTree},
		{name: "top", does: "show observations between processes, and running calls", run: top},
		{name: "token new", does: "print a token that lets other machines in", run: newToken, more: tokenHelp},
		{name: "token ls", does: "list tokens and the members that joined by them", run: listTokens},
		{name: "token revoke", args: "ID", does: "end a token and cut off its members within seconds", run: revokeToken},
		{name: "serve", args: "PROGRAM [ARGUMENT...]", does: "run a server on a machine that joins by a token", run: serveProcess, more: serveHelp},
		{name: "ckpt ls", does: "list checkpoints", run: listCheckpoints},
		{name: "ckpt rm", args: "CALL... | --all", does: "delete checkpoints of calls", run: removeCheckpoints, more: removeHelp},
		{name: "ckpt register", args: "FILE", does: "make a file part of the checkpoints of a call", run: order("register", 1), more: orderHelp},
		{name: "ckpt restart", args: "FILE", does: "the same, and run the file where the call continues", run: order("restart", 1), more: orderHelp},
		{name: "ckpt notify", does: "make a checkpoint now", run: order("notify", 0), more: orderHelp},
		{name: "free", hidden: true, run: freeProcess},
		{name: "store", hidden: true, run: storeProcess},
		{name: "master", hidden: true, run: agentProcess("master")},
		{name: "agent", hidden: true, run: agentProcess("agent")},
	}
}

const upHelp = `
PROGRAM is a program that calls server.Main, or the folder of one. With --program servers run
programs that know nothing of gridrpc in sandboxes instead (go doc ./sandbox).
The platform has a master, A agents below it and S servers below each agent with --tree AxS. Its
processes end with this command. Clients on this machine find it by its folder.
`

const callHelp = `
The argument is JSON on the command line, in a FILE, or on the standard input (-); {} by default.
With --keep the call continues when this command ends: gridrpc attach prints its result.
With --join this machine does not see the platform's folder: the token is needed once.
`

const tokenHelp = `
The machine or program that redeems the token gets a certificate of the role, and renews it.
`

const serveHelp = `
With --batch slurm this server is in front of a cluster: each call of --program is a job, which
outlives the server (go doc ./batch).
PROGRAM calls server.Main. The token is needed once: later starts use the identity in --identity,
by default gridrpc/server in the user's folder of settings.
`

const removeHelp = `
Checkpoints of calls that end are deleted anyway.
`

const orderHelp = `
This command is for programs that the body of a call has started with Environ.
`

// find returns the verb of a name.
func find(name string) (verb, bool) {
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == name })
	if i < 0 {
		return verb{}, false
	}
	return verbs[i], true
}

// group returns the verbs of two words with the given first word.
func group(first string) (members []verb) {
	for _, v := range verbs {
		if strings.HasPrefix(v.name, first+" ") {
			members = append(members, v)
		}
	}
	return members
}

// mistake is a wrong command line: "gridrpc COMMAND -h" is the remedy.
type mistake struct {
	command string // "": none
	text    string
}

// Error returns the mistake and the remedy in one line.
func (m mistake) Error() string {
	if m.command == "" {
		return m.text + ": gridrpc help lists the commands"
	}
	return fmt.Sprintf("%s: %s: gridrpc %s -h lists arguments and flags", m.command, m.text, m.command)
}

// errHelped reports that a command has printed its help.
var errHelped = errors.New("help was printed")

// unknown returns the mistake of an unknown command.
func unknown(name string) error {
	var names []string
	for _, v := range verbs {
		if !v.hidden {
			names = append(names, v.name)
		}
	}
	return mistake{"", fmt.Sprintf("no command %q%s", name, didYouMean(name, names, ""))}
}

// typoMax is the largest distance of a misspelt name from the intended one.
const typoMax = 2

// didYouMean suggests the known word that is most similar to an unknown one, if any.
func didYouMean(word string, known []string, prefix string) string {
	for _, name := range ranking.Nearest(word, known) {
		if ranking.Distance(word, name) <= min(typoMax, len(word)/2) {
			return ": did you mean " + prefix + name + "?"
		}
	}
	return ""
}

// help prints the help of a command, or the list of all.
func help(words []string) error {
	if len(words) == 0 {
		fmt.Println("gridrpc calls services of a platform; the calls survive the death of servers and agents.")
		fmt.Println()
		for _, v := range verbs {
			if !v.hidden {
				fmt.Printf("  %-46s %s\n", strings.TrimSpace("gridrpc "+v.name+" "+v.args), v.does)
			}
		}
		fmt.Println("  gridrpc version\n  gridrpc help [COMMAND], gridrpc COMMAND -h     list the flags of a command")
		fmt.Println("\nAn example: gridrpc up ./examples/dgemm, then in another terminal gridrpc call dgemm '{\"n\":400}'")
		return errHelped
	}
	name := strings.Join(words, " ")
	if v, ok := find(name); ok {
		return v.run(context.Background(), []string{"-h"})
	}
	if members := group(name); len(members) > 0 {
		return helpOf(flags(name))
	}
	return unknown(name)
}

// helpOf prints the help of the command of a flag set.
func helpOf(f *flag.FlagSet) error {
	list := group(f.Name())
	if v, ok := find(f.Name()); ok {
		list = []verb{v}
	}
	for _, v := range list {
		fmt.Printf("gridrpc %s\n        %s\n%s", strings.TrimSpace(v.name+" [flags] "+v.args), v.does, v.more)
	}
	fmt.Println("\nflags:")
	f.VisitAll(func(one *flag.Flag) {
		value, text := flag.UnquoteUsage(one)
		if value == "duration" {
			value = "D"
		}
		if one.DefValue != "" && one.DefValue != "0" && one.DefValue != "0s" && one.DefValue != "false" {
			text += " (default " + one.DefValue + ")"
		}
		fmt.Printf("  --%s\n        %s\n", strings.TrimSpace(one.Name+" "+value), text)
	})
	return errHelped
}

// release is the version of this source, the same as that of goulfm (docs/HACKING.md, "A release").
const release = "0.2.0-dev"

// version describes this binary: the release, the version of the wire, Go and the machine.
func version() string {
	return fmt.Sprintf("gridrpc %s, wire %s, %s %s/%s", release, pb.Wire(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// flags returns a flag set whose --dir is the folder of the platform.
func flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Func("dir", "`FOLDER` of the platform (default "+gridrpc.DefaultDir()+")", func(dir string) error {
		return errors.Join(os.Setenv(gridrpc.EnvDir, dir), os.Unsetenv(gridrpc.EnvIdentity)) // the command line overrides the environment
	})
	f.Func("identity", "`FOLDER` of an identity, on a machine that does not see the platform's folder", func(dir string) error {
		return os.Setenv(gridrpc.EnvIdentity, dir)
	})
	return f
}

// anyNumber is no bound of arguments.
const anyNumber = -1

// parse reads flags, and requires between least and most arguments after them.
func parse(f *flag.FlagSet, args []string, least, most int) error {
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return helpOf(f)
	case err != nil:
		return mistake{f.Name(), plainFlag(f, err.Error())}
	case f.NArg() < least:
		return mistake{f.Name(), "an argument is missing"}
	case most == anyNumber || f.NArg() <= most:
		return nil
	}
	for _, arg := range f.Args() {
		if strings.HasPrefix(arg, "-") && arg != "-" {
			return mistake{f.Name(), arg + " after an argument: flags come first"}
		}
	}
	return mistake{f.Name(), fmt.Sprintf("too many arguments: %d, at most %d", f.NArg(), most)}
}

// The messages of package flag.
var (
	noFlag   = regexp.MustCompile(`^flag provided but not defined: -(.*)$`)
	noValue  = regexp.MustCompile(`^flag needs an argument: -(.*)$`)
	badValue = regexp.MustCompile(`^invalid (?:boolean )?value "(.*)" for (?:flag )?-([^:]*): (.*)$`)
)

// plainFlag returns a message of package flag in plain words: the flag, the value, and the required
// form.
func plainFlag(f *flag.FlagSet, text string) string {
	if m := noFlag.FindStringSubmatch(text); m != nil {
		var names []string
		f.VisitAll(func(one *flag.Flag) { names = append(names, one.Name) })
		return "--" + m[1] + ": no such flag" + didYouMean(m[1], names, "--")
	}
	if m := noValue.FindStringSubmatch(text); m != nil {
		return "--" + m[1] + ": a value is missing"
	}
	m := badValue.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	value, name, why := m[1], m[2], m[3]
	if get, ok := f.Lookup(name).Value.(flag.Getter); ok {
		switch get.Get().(type) {
		case time.Duration:
			why = "want a duration such as 5s"
		case int:
			why = "want a whole number"
		case bool:
			why = "want true or false"
		}
	}
	return fmt.Sprintf("--%s %s: %s", name, value, why)
}
