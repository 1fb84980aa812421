package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed paths.tsv
var pathsText string

// launcher is the path of the program that starts jobs.
const launcher = "cmd/goulfm"

// A move is the other path that a program of this tree has in older revisions.
type move struct{ old, new string }

func readMoves(text string) (moves []move, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimRight(line, "\n"); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		before, after, ok := strings.Cut(line, "\t")
		if before, after = strings.TrimSpace(before), strings.TrimSpace(after); !ok || before == "" || after == "" || strings.Contains(after, "\t") {
			return nil, fmt.Errorf("paths.tsv, line %d: %q: want two paths with a tab between them", number, line)
		}
		moves = append(moves, move{before, after})
	}
	return moves, nil
}

// A program is a path in some revision, and the arguments that choose a command of the program
// there.
type program struct {
	path string
	args []string
}

func programOf(text string) program {
	words := strings.Fields(text)
	return program{words[0], words[1:]}
}

// find returns a program under the path that it has where only some paths exist. A program may have
// moved several times. A path with a command is better where the command has its folder below the
// path: before a command moved there the path existed without it.
func find(wanted string, moves []move, exists func(path string) bool) (p program, ok bool) {
	tried := []string{wanted}
	for i := 0; i < len(tried); i++ {
		here := programOf(tried[i])
		if exists(here.path) && (len(here.args) == 0 || exists(path.Join(here.path, here.args[0]))) {
			return here, true
		}
		if !ok && exists(here.path) {
			p, ok = here, true
		}
		for _, m := range moves {
			if m.new == tried[i] && !slices.Contains(tried, m.old) {
				tried = append(tried, m.old)
			}
		}
	}
	return p, ok
}

// A workshop is a temporary folder with the worktrees of revisions and with their programs.
type workshop struct {
	root     string // of the module
	dir      string
	trees    []string
	moves    []move
	progress io.Writer
}

func newWorkshop(root string, progress io.Writer) (*workshop, error) {
	moves, err := readMoves(pathsText)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "goulfm-ab-")
	if err != nil {
		return nil, err
	}
	return &workshop{root: root, dir: dir, moves: moves, progress: progress}, nil
}

// close removes all, also after an interrupt.
func (w *workshop) close() {
	for _, tree := range w.trees {
		if out, err := exec.Command("git", "-C", w.root, "worktree", "remove", "--force", tree).CombinedOutput(); err != nil {
			w.say("git worktree remove %s: %v: %s", tree, err, out)
		}
	}
	os.RemoveAll(w.dir)
}

func (w *workshop) say(format string, args ...any) {
	fmt.Fprintf(w.progress, "ab: "+format+"\n", args...)
}

// A side is one of the two revisions that are compared.
type side struct {
	name     string // "base" or "head"
	revision string // short hash, or "this tree"
	bin      string // folder of programs
	programs map[string]program
	lacks    map[string]string // programs of this tree that it does not have, with the reason
}

// programs are those that the chosen rows need.
func (o options) programs() []string {
	programs := []string{launcher}
	for _, f := range o.families() {
		programs = append(programs, f.program)
	}
	return programs
}

// sides builds both.
func (w *workshop) sides(ctx context.Context, o options) (base, head *side, err error) {
	programs := o.programs()
	if base, err = w.side(ctx, "base", o.base, "", programs); err != nil {
		return nil, nil, err
	}
	head, err = w.side(ctx, "head", o.head, o.overlay, programs)
	return base, head, err
}

func (w *workshop) side(ctx context.Context, name, revision, overlay string, programs []string) (*side, error) {
	s := &side{name: name, revision: "this tree", bin: filepath.Join(w.dir, name), programs: map[string]program{}, lacks: map[string]string{}}
	tree := w.root
	if revision != "" {
		tree, s.revision = filepath.Join(w.dir, name+"-tree"), revision
		w.trees = append(w.trees, tree)
		if out, err := git(ctx, w.root, "worktree", "add", "--detach", tree, revision); err != nil {
			return nil, fmt.Errorf("git worktree add %s: %w: %s", revision, err, out)
		}
	}
	w.say("build %s: %s", name, s.revision)
	return s, w.build(ctx, s, tree, overlay, programs)
}

// resolve returns the hash of a revision.
func resolve(root, revision string) (string, error) {
	out, err := git(context.Background(), root, "rev-parse", "--verify", "--quiet", "--short=10", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("revision %q is no commit of this repository: name another one with -base or BASE=, or fetch it (git fetch --unshallow for a shallow clone)", revision)
	}
	return strings.TrimSpace(out), nil
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).CombinedOutput()
	return string(out), err
}

// build makes the launcher and the programs of one side.
func (w *workshop) build(ctx context.Context, s *side, tree, overlay string, programs []string) error {
	exists := func(path string) bool {
		files, _ := filepath.Glob(filepath.Join(tree, path, "*.go")) // the pattern is good
		return len(files) > 0
	}
	paths := map[string]string{} // by file name
	for _, wanted := range programs {
		p, ok := find(wanted, w.moves, exists)
		if !ok {
			s.lacks[wanted] = fmt.Sprintf("it has no program %s", wanted)
			continue
		}
		s.programs[wanted] = p
		paths[s.file(p)] = p.path
	}
	if _, ok := s.programs[launcher]; !ok {
		return fmt.Errorf("%s %s has no %s: add its path there to bench/ab/paths.tsv", s.name, s.revision, launcher)
	}
	for file, path := range paths {
		args := []string{"build", "-trimpath", "-buildvcs=false", "-o", file}
		if overlay != "" {
			args = append(args, "-overlay", overlay)
		}
		cmd := exec.CommandContext(ctx, "go", append(args, "./"+path)...)
		cmd.Dir, cmd.Env = tree, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s %s: build %s: %w\n%s", s.name, s.revision, path, err, out)
		}
	}
	return nil
}

func (s *side) file(p program) string { return filepath.Join(s.bin, path.Base(p.path)) }

// argv is the command line of a job of a family. values is the file for the values of a driver.
func (s *side) argv(f family, values string) []string {
	p, goulfm := s.programs[f.program], s.file(s.programs[launcher])
	if f.read == valued {
		return slices.Concat([]string{s.file(p)}, p.args, f.command(), []string{"-goulfm", goulfm, "-csv", values})
	}
	argv := append([]string{goulfm, "run", "-q", "-n", strconv.Itoa(f.n)}, f.flags...)
	return slices.Concat(argv, []string{s.file(p)}, p.args, f.command())
}
