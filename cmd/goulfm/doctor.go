package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/base/flagtext"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
)

const doctorUsage = `usage: goulfm doctor [flags]

Examines this machine, and the job engine that has started this process, for a job: a line for each
finding, with its remedy. Under an engine, start it as one task of each node.

  goulfm doctor                                this machine
  goulfm doctor --hostfile hosts               and the hosts of a file
  srun --ntasks-per-node=1 goulfm doctor       the nodes of an allocation

This machine:
  -n N                number of ranks on this machine (default: one per usable core)

Hosts:
  --host HOSTS        also examine these hosts: ssh without a question, the version of goulfm, and
                      connections of each host to this machine and to each other host
  --hostfile FILE     the same for the hosts of a file
  --rsh CMD           a command in place of ssh, as in goulfm run
  --daemon-path PATH  path of goulfm on the hosts (default: the path of this one)

Exit code: 0 when all is well, 1 with warnings, 3 with errors, 2 usage.
`

// grade is the severity of a finding.
type grade int

const (
	isWell grade = iota
	isSlow       // jobs run, but slower than possible, or not under all circumstances
	isMissing
)

func (g grade) String() string { return [...]string{"ok", "warning", "error"}[g] }

// A finding is one line of output: the item examined, the result, and the remedy.
type finding struct {
	grade              grade
	what, text, remedy string
}

func (f finding) String() string {
	text := fmt.Sprintf("%-8s %s: %s", f.grade, f.what, f.text)
	if f.remedy != "" {
		text += ": " + f.remedy
	}
	return text
}

func well(what, format string, args ...any) finding {
	return finding{what: what, text: fmt.Sprintf(format, args...)}
}

// doctorFor is the time limit for each program or host that the doctor queries.
const doctorFor = 15 * time.Second

type doctorFlags struct {
	n     int
	spec  launch.Spec
	nodes nodeFlags
	peer  string // addresses of the doctor on another host that starts this process as its peer
}

func (d *doctorFlags) register(f *flag.FlagSet) {
	f.IntVar(&d.n, "n", coresHere(), "")
	d.nodes.registerHosts(f, &d.spec)
	f.StringVar(&d.peer, "peer", "", "")
}

// doctorOrSibling runs the doctor, or one of the two processes by which the doctor tests reads of
// another process's memory.
func doctorOrSibling(ctx context.Context, args []string) int {
	if code, isOne := sibling(os.Getenv(siblingVariable)); isOne {
		return code
	}
	return doctor(ctx, args)
}

// doctor examines this machine.
func doctor(ctx context.Context, args []string) int {
	f := flag.NewFlagSet("goulfm doctor", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	var flags doctorFlags
	flags.register(f)
	err := flagtext.Parse(f, args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(doctorUsage)
		return 0
	}
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("%s: goulfm doctor takes flags only", f.Arg(0))
	}
	if err == nil && flags.n < 1 {
		err = fmt.Errorf("-n %d: want 1 rank or more", flags.n)
	}
	if err == nil {
		err = flags.nodes.completeHosts(f, &flags.spec)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "goulfm doctor: %v\ngoulfm doctor -h lists the flags\n", err)
		return launch.ExitUsage
	}
	if flags.peer != "" {
		runPeer(ctx, strings.Split(flags.peer, ","))
		return 0
	}
	findings := examineEngine(ctx)
	findings = append(findings, examineSlurm(ctx, os.Getenv)...)
	findings = append(findings, examineMachine(flags.n)...)
	findings = append(findings, examineHosts(ctx, &flags.spec)...)
	return report(os.Stdout, findings)
}

// report prints findings and returns the exit code of the worst one.
func report(to io.Writer, findings []finding) int {
	worst := isWell
	for _, f := range findings {
		fmt.Fprintln(to, f)
		worst = max(worst, f.grade)
	}
	return [...]int{0, 1, launch.ExitFailed}[worst]
}
