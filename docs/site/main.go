package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("out", "public", "`FOLDER` to write; an earlier site in it is replaced")
	root := flag.String("root", "../..", "`FOLDER` of the repository")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "site: unexpected argument %q: the flags are -out and -root\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := write(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write builds the site of the repository at root in memory, checks its links, and replaces out.
func write(root, out string) error {
	s, err := assemble(root, helpOf(root))
	if err != nil {
		return err
	}
	if err := replaceable(out); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for name, content := range s.files {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d files in %s; %d links between pages resolve; %d links leave the site\n", len(s.files), out, s.resolved, len(s.external))
	return nil
}

// replaceable returns an error if out holds something other than an earlier site.
func replaceable(out string) error {
	entries, err := os.ReadDir(out)
	if os.IsNotExist(err) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, marker)); err != nil {
		return fmt.Errorf("%s holds files that are no site (it has no %s): name another folder", out, marker)
	}
	return nil
}

// helpOf returns a function that runs goulfm help.
func helpOf(root string) func(command string) (string, error) {
	return func(command string) (string, error) {
		args := []string{"run", "./cmd/goulfm", "help"}
		if command != "" {
			args = append(args, command)
		}
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Stderr = root, os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("goulfm help %s: %w", command, err)
		}
		return strings.TrimRight(string(text), "\n") + "\n", nil
	}
}
