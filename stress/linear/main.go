// Linear checks whether the operations of several processes on one window are linearizable: whether
// each operation can be assigned one instant between its call and its return. Operations of a
// process that is killed meanwhile are included; an open one of these may have happened or not.
//
//	go run . -histories 100
//	go run . -histories 100 -home nodes              # memory, nodes, messages, own: where the window is
//	go run . -histories 1 -seed 7 -first 31 -v      # that history again
//
// A history is a job: 4 processes with 2 goroutines each load, store, add and compare-and-swap
// elements at all of them, and read and write pairs of elements under locks. One process is killed
// with SIGKILL in the middle. Each process records its calls and their answers in a mapped file,
// which the others read when that process is dead. A store lasts until its flush has returned: if
// operations are sent, the new value is not there before. Elements of a dead process on another
// node, with --fence, or in memory of its own, have no last value. Porcupine
// (github.com/anishathalye/porcupine) judges.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

type options struct {
	trial.Flags
	n, calls int
	home     home
	rank     bool
	log      string
}

func main() {
	trial.Program[options]{Name: "linear", Parse: parse, Rank: beRank, Drive: drive}.Main(os.Args[1:])
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	fs := cli.Flags("linear", "usage: linear [flags]\n"+
		"Runs histories of operations on a window, in each of which a process is killed, and looks whether they are linearizable.", out)
	o.Register(fs, "histories", 100)
	fs.IntVar(&o.n, "n", 4, "processes, of 2 goroutines each")
	fs.IntVar(&o.calls, "calls", 60, "operations of a goroutine")
	o.home = inMemory
	fs.Var(&o.home, "home", "where the window is: memory, nodes (two of them), messages (--fence), own (rma.Create)")
	fs.StringVar(&o.log, "log", "", "of a rank: the folder of what ranks write down")
	fs.BoolVar(&o.rank, "rank", false, "be a rank of a job: goulfm run -n 4 linear -rank -log DIR -seed 1")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.n < 2 || o.calls < 1 || o.calls > 10_000 || fs.NArg() > 0 {
		return o, errors.New("want -n from 2 up, -calls of 1 to 10000, no other argument (-h for help)")
	}
	if o.rank != (o.log != "") {
		return o, errors.New("want -log with -rank, and not without (-h for help)")
	}
	return o, o.Check()
}

// beRank does the whole work of a rank.
func beRank(o options) bool {
	if !o.rank {
		return false
	}
	comm.Main(trial.Rank(func(ctx context.Context, w *comm.Comm) error {
		v, err := play(ctx, w, script{o.home, o.Seed, o.calls, o.log, trial.Die})
		if err == nil && v.judged {
			fmt.Printf("linearizable: %d operations, %d of them open, %d on the dead\n", v.operations, v.open, v.failed)
		}
		return err
	}))
	return true
}

// drive runs the histories and returns the exit code.
func drive(o options, out io.Writer) (int, error) {
	if o.Goulfm == "" {
		remove, err := o.build()
		if err != nil {
			return 0, err
		}
		defer remove()
	}
	p, err := trial.Open("linear", o.Goulfm, o.Timeout)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	dir, err := os.MkdirTemp("", "linear")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(out, "linear: %d histories of %d processes, window: %s, seed %d\n", o.Jobs, o.n, o.home, o.Seed)
	var open int
	t := o.Loop(p, out, func(number int) trial.Job {
		return trial.Job{
			N: o.n, Launch: o.home.launch(o.n),
			Args:  []string{"-rank", "-log", dir, "-home", string(o.home), "-seed", strconv.FormatUint(o.SeedOf(number), 10), "-calls", strconv.Itoa(o.calls)},
			Again: fmt.Sprintf("-histories 1 -n %d -calls %d -home %s", o.n, o.calls, o.home),
			Check: func(r *trial.Result) string { return wrong(r, &open) },
			Note:  func(r *trial.Result) string { return r.Stdout },
		}
	})
	t.Print(out)
	fmt.Fprintf(out, "operations of the killed that were open: %d\n", open)
	return t.Code(), nil
}

// build builds the launcher, in the folder of its module: this module does not have the
// dependencies of the launcher.
func (o *options) build() (remove func(), err error) {
	dir, err := os.MkdirTemp("", "linear")
	if err != nil {
		return nil, err
	}
	o.Goulfm = filepath.Join(dir, "goulfm")
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/goulfm/goulfm").Output()
	if err == nil {
		cmd := exec.Command("go", "build", "-C", strings.TrimSpace(string(root)), "-o", o.Goulfm, "./cmd/goulfm")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		err = cmd.Run()
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("go build of the launcher, from the sources of goulfm: %w", err)
	}
	return func() { os.RemoveAll(dir) }, nil
}

// wrong returns the fault of a history that has ended without an error; empty: none.
func wrong(r *trial.Result, open *int) string {
	var all, some, failed int
	if _, err := fmt.Sscanf(r.Stdout, "linearizable: %d operations, %d of them open, %d on the dead", &all, &some, &failed); err != nil {
		return "nobody has judged it"
	}
	if len(r.Deaths()) != 1 {
		return fmt.Sprintf("%d deaths, want one", len(r.Deaths()))
	}
	*open += some
	return ""
}
