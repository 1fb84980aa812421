package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
)

// A Command is one of several of a program, with a folder of its own below the program's.
type Command struct {
	Name string
	Job  bool   // each rank of a job runs it; otherwise it starts jobs itself
	Does string // one line
	Main func(args []string)
}

// Commands is the main function of a program with these commands. It runs the command that the
// first argument names, with the other arguments. about is the purpose of the program. After a
// request for help it lists the commands; without a known command it does the same and ends with
// exit code 2.
func Commands(program, about string, all []Command) {
	c, code := choose(program, about, all, os.Args[1:], os.Stdout, os.Stderr)
	if c == nil {
		os.Exit(code)
	}
	c.Main(os.Args[2:])
}

// choose returns the command that the arguments name, or the exit code.
func choose(program, about string, all []Command, args []string, out, errs io.Writer) (c *Command, code int) {
	if len(args) > 0 {
		if slices.Contains([]string{"-h", "-help", "--help", "help"}, args[0]) {
			list(program, about, all, out)
			return nil, 0
		}
		if i := slices.IndexFunc(all, func(c Command) bool { return c.Name == args[0] }); i >= 0 {
			return &all[i], 0
		}
		fmt.Fprintf(errs, "%s: no command %q\n", program, args[0])
	}
	list(program, about, all, errs)
	return nil, 2
}

func list(program, about string, all []Command, out io.Writer) {
	fmt.Fprintf(out, "%s\n\nusage: %s COMMAND [flags]; COMMAND -h lists its flags\n", about, program)
	for _, job := range []bool{false, true} {
		title := fmt.Sprintf("go run ./bench/%s COMMAND", program)
		if job {
			title = fmt.Sprintf("goulfm run -n RANKS ./bench/%s COMMAND", program)
		}
		fmt.Fprintf(out, "\n%s:\n", title)
		for _, c := range all {
			if c.Job == job {
				fmt.Fprintf(out, "  %-10s %s\n", c.Name, c.Does)
			}
		}
	}
}

// Folders returns the difference between a table of commands and the folders below that of the
// program, or "". The test of the table calls it.
func Folders(dir string, all []Command) string {
	var have, want []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			have = append(have, e.Name())
		}
	}
	for _, c := range all {
		want = append(want, c.Name)
	}
	slices.Sort(want)
	if err != nil || !slices.Equal(have, want) {
		return fmt.Sprintf("folders %q, commands %q, %v", have, want, err)
	}
	return ""
}
