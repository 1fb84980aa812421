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
	tool, err := os.MkdirTemp("", "site-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tool)
	help, err := helpOf(root, filepath.Join(tool, "goulfm"))
	if err != nil {
		return err
	}
	s, err := assemble(root, help)
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

// helpOf compiles goulfm into a file, and returns a function that runs its help.
func helpOf(root, file string) (func(command string) (string, error), error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	build := exec.Command("go", "build", "-o", file, "./cmd/goulfm")
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build goulfm: %w", err)
	}
	return func(command string) (string, error) {
		text, err := exec.Command(file, strings.Fields("help "+command)...).Output()
		if err != nil {
			return "", fmt.Errorf("goulfm help %s: %w", command, err)
		}
		return strings.TrimRight(string(text), "\n") + "\n", nil
	}, nil
}
