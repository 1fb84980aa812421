package cli

import (
	"fmt"
	"io"
	"os"
	"path"
	"slices"
)

// A Command is one of several of a program, with a folder of its own below the program's.
type Command struct {
	Name string
	Job  bool   // each rank of a job runs the command; otherwise the command starts jobs itself
	Does string // one line
	Main func(args []string)
}

// Commands is the main function of a program with these commands. The first argument names the
// command to run, which gets the other arguments. The folder is the program's place in the module,
// such as "bench/measure", and about is its purpose. A request for help lists the commands. Without
// a known command the list is printed to standard error, and the exit code is 2.
func Commands(folder, about string, all []Command) {
	c, code := choose(folder, about, all, os.Args[1:], os.Stdout, os.Stderr)
	if c == nil {
		os.Exit(code)
	}
	c.Main(os.Args[2:])
}

// choose returns the command that the arguments name, or the exit code.
func choose(folder, about string, all []Command, args []string, out, errs io.Writer) (c *Command, code int) {
	if len(args) > 0 {
		if slices.Contains([]string{"-h", "-help", "--help", "help"}, args[0]) {
			list(folder, about, all, out)
			return nil, 0
		}
		if i := slices.IndexFunc(all, func(c Command) bool { return c.Name == args[0] }); i >= 0 {
			return &all[i], 0
		}
		fmt.Fprintf(errs, "%s: no command %q\n", path.Base(folder), args[0])
	}
	list(folder, about, all, errs)
	return nil, 2
}

func list(folder, about string, all []Command, out io.Writer) {
	fmt.Fprintf(out, "%s\n\nusage: %s COMMAND [flags]; COMMAND -h lists its flags\n", about, path.Base(folder))
	for _, job := range []bool{false, true} {
		title := fmt.Sprintf("go run ./%s COMMAND", folder)
		if job {
			title = fmt.Sprintf("goulfm run -n RANKS ./%s COMMAND", folder)
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
