package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/goulfm/goulfm/internal/base/flagtext"
	"github.com/goulfm/goulfm/internal/joblaunch/enginejob"
	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
	"github.com/goulfm/goulfm/internal/joblaunch/remotedaemon"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
)

const daemonUsage = `usage: goulfm daemon [flags of goulfm run] -- PROGRAM [args...]

Starts the ranks of a program under a job engine that starts this command once on each node. The first
one acts as goulfm run on all these nodes: it prints the output, and its exit code is that of the job.
A task of the engine is a node, so the engine does not notice the death of a rank. On one node it is
the same as goulfm run. A pod that comes later, for example in place of a lost one, is a node with room
for processes that are started later (GOULFM_NODES_MAX).

  goulfm daemon --ppn 2 -- ./heat                                             one node
  srun -N 4 --ntasks-per-node=1 --no-kill goulfm daemon --ppn 8 -- ./heat     Slurm
  mpiexec -ppn 1 -n 4 goulfm daemon --ppn 8 -- ./heat                         hydra

Flags: those of goulfm run. --ppn N is the number of ranks of each node (default: one per usable core
of the first node).

Without a program it is the daemon of a node, which goulfm run --host starts.

Exit code: that of goulfm run.
`

// registerDaemon declares the flags of goulfm daemon: the flags of goulfm run without hostFlags,
// because the engine selects the nodes.
func registerDaemon(f *flag.FlagSet) {
	all := flag.NewFlagSet("", flag.ContinueOnError)
	registerRun(all)
	all.VisitAll(func(one *flag.Flag) {
		if !slices.Contains(hostFlags, one.Name) {
			f.Var(one.Value, one.Name, one.Usage)
		}
	})
}

// serveNode runs the daemon of one node of a job. goulfm run starts this daemon, or a job engine
// starts it with a program.
func serveNode(ctx context.Context, args []string) int {
	at := slices.Index(args, "--")
	switch {
	case at >= 0:
		return serveEngine(ctx, slices.Delete(slices.Clone(args), at, at+1))
	case slices.Contains(args, "-h") || slices.Contains(args, "--help"):
		fmt.Print(daemonUsage)
		return 0
	}
	code := launch.ExitUsage
	node, err := nodeOf(args, os.Getenv(slurmNodeVariable))
	if err == nil {
		spendIdentity()
		code, err = remotedaemon.Run(ctx, os.Stdin, node, 0)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "goulfm daemon: %v\n", err)
	}
	return code
}

// serveEngine runs a daemon that a job engine has started with a program, one on each node. The
// first daemon runs the job.
func serveEngine(ctx context.Context, args []string) int {
	fail := func(code int, err error) int {
		fmt.Fprintf(os.Stderr, "goulfm daemon: %v\n", err)
		return code
	}
	spec, err := parseRunOn(&enginejob.Enlisted{Names: []string{"first"}}, args)
	if err != nil {
		return fail(launch.ExitUsage, err)
	}
	e, err := enginejob.Enlist(ctx, spec.Hosts.StartTimeout)
	if err != nil {
		return fail(launch.ExitFailed, err)
	}
	spendIdentity()
	if e != nil && e.Names == nil {
		code, err := serveEnlisted(ctx, e)
		if err != nil {
			return fail(code, err)
		}
		return code
	}
	if e == nil { // no other daemon: a job on this machine, without nodes
		spec.Hosts.Nodes, spec.Period = nil, cmp.Or(spec.Period, ringPeriod)
	} else if spec, err = parseRunOn(e, args); err != nil {
		return fail(launch.ExitUsage, err)
	}
	code, err := launch.Run(ctx, spec)
	e.End(code)
	if err != nil {
		return fail(code, err)
	}
	return code
}

// serveEnlisted runs the daemon of a node of a job that another daemon has launched. If the world
// began without this node, the daemon waits for a place in the world.
func serveEnlisted(ctx context.Context, e *enginejob.Enlisted) (code int, err error) {
	for bootstrap := e.Bootstrap; ; {
		if bootstrap == nil {
			if bootstrap, code, err = waitOnStandby(ctx, e); bootstrap == nil {
				return code, err
			}
		}
		code, err = remotedaemon.Run(ctx, bytes.NewReader(append(bootstrap, '\n')), remotedaemon.AsTold, e.Grace)
		if !errors.Is(err, remotedaemon.ErrTooLate) {
			return code, err
		}
		fmt.Fprintf(os.Stderr, "goulfm daemon: %v\n", err)
		bootstrap = nil
	}
}

// waitOnStandby waits for a place in the world, or for the end of the job.
func waitOnStandby(ctx context.Context, e *enginejob.Enlisted) (bootstrap []byte, code int, err error) {
	fmt.Fprintln(os.Stderr, "goulfm daemon: the world has begun without this node: it waits for a place in it, or for the end of the job")
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	bootstrap, code, err = e.Standby(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, launch.ExitSignal + int(syscall.SIGTERM), nil
	case err != nil:
		return nil, launch.ExitFailed, err
	}
	return bootstrap, code, nil
}

// slurmNodeVariable is set by Slurm's daemon on a node, to its name there.
const slurmNodeVariable = "SLURMD_NODENAME"

// nodeOf returns the node that a daemon serves. With --nodes, as srun starts a daemon, the node is
// the index of the daemon's host in the list.
func nodeOf(args []string, name string) (int, error) {
	f := flag.NewFlagSet("goulfm daemon", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	list := f.String("nodes", "", "")
	switch err := flagtext.Parse(f, args); {
	case err != nil:
		return 0, err
	case f.NArg() > 0:
		return 0, fmt.Errorf("%s: use goulfm daemon -- PROGRAM", f.Arg(0))
	case *list == "":
		return remotedaemon.AsTold, nil
	}
	hosts, err := hostlist.Expand(*list)
	if err != nil {
		return 0, fmt.Errorf("--nodes: %w", err)
	}
	node := slices.Index(hosts, name)
	if node < 0 {
		return 0, errors.New("--nodes " + *list + ": " + slurmNodeVariable + "=" + name + " is not among them: is goulfm daemon started by srun?")
	}
	return node, nil
}

// spendIdentity keeps the processes that the daemon starts, ranks and their children, from claiming
// the daemon's place among the tasks of an engine: it removes the variables of that place, and sets
// the mark of a joined world.
func spendIdentity() {
	claim, err := rm.Recognise(os.Environ(), nil)
	for _, name := range rm.Spent(os.Environ()) {
		os.Unsetenv(name)
	}
	if mark := claim.Mark(); err == nil && mark != "" {
		_ = os.Setenv(rm.JoinedVariable, mark)
	}
}
