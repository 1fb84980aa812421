package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/base/flagtext"
	"github.com/goulfm/goulfm/internal/joblaunch/enginejob"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/goulfm/goulfm/internal/net/pmi"
)

const runUsage = `usage: goulfm run [flags] PROGRAM|GO-PACKAGE [args...]

Starts the ranks of one job, on this machine or on several. A Go file, or a directory with Go
files, is built first. A name without a slash is looked up in PATH: use ./DIR for a directory.

  goulfm run -n 4 ./heat                                 four ranks on this machine
  goulfm run --hostfile hosts ./heat                     the hosts of a file, by ssh
  goulfm run -n 8 --spares 1 --kill 3@step=40 ./heat     a kill, and a spare process to replace it

Ranks:
  -n, -np N           number of ranks (default: one per usable core); more than cores is normal
  --universe N        limit of processes at a time, spawned ones included (default: twice -n, the
                      spares, and 16)
  --spares N          N processes in Init that replace dead ranks; a used spare is followed by
                      another one after 0.1 s, a dead one at once
  --respawn N         limit of processes started as replacements or further spares (default: none)
  --restart N         start all ranks again, at most N times, if all have died and none has finished:
                      package recovery continues from node memory or files (several nodes: files)
  --survive killed|any|none   failures that leave the job a success if other ranks finish (default
                      killed):
                        killed   a rank ended from outside: by a signal, or declared dead. An exit
                                 code, an error or a panic of its body, an exit without Finalize and
                                 Abort fail the job; its code is that of the first such rank
                        any      every failure
                        none     no failure: the first one ends the job
  -x NAME[=VALUE]     set an environment variable, or pass its value here; may be repeated
  --wdir DIR          working directory of the ranks
  --timeout D         after D report which rank waits for which, print the stacks of the program,
                      and end the job with code 124
  -v                  in such a report, and that of SIGQUIT, also print the stacks of the library
  --grace D           kill ranks that have not ended D after the first SIGTERM (default 10s; 0:
                      never; under Slurm and other job engines 0, because they kill ranks themselves)

Nodes:
  --host HOSTS        nodes with a memory of their own each, connected by TCP: a:2,b:2 is two hosts
                      with two ranks each; a number N is N nodes on this machine
  --hostfile FILE     hosts from a file, one per line: a slots=2 rack=r1. Nodes of one rack are not
                      neighbours on the ring that finds silent nodes, so a lost rack is found in
                      the time of one node
  --ppn N             ranks of a node without a number of slots (default 1)
  --launcher local|ssh|slurm   the way to start the daemons (default: local if all hosts are this
                      machine, else ssh; slurm, on all nodes of the allocation, inside an allocation
                      of Slurm without --host)
  --rsh CMD           start a daemon by CMD HOST goulfm daemon, in place of ssh
  --daemon-path PATH  path of goulfm on the hosts (default: the path of this one)
  --iface ADDR        address of this machine that the hosts can reach (default: any)
  --start-timeout D   time within which all daemons must answer (default 30s)
  --secure tls|auth   encrypt the connections of nodes, or only prove membership of the job
                      (default: tls; auth if all nodes are this machine)
  --survive-launcher  nodes continue without the launcher, or without a minority of launcher and
                      nodes that is lost together; requires --output-dir on each node

Output:
  --tag, -l           begin each line of output with its rank
  --timestamp         begin each line of output with the seconds since the start
  --output-dir DIR    write rank.N.out and rank.N.err in DIR instead of to the terminal
  --stdin RANK        the rank that reads standard input, or none, or all (default 0); input that it
                      does not read stays there. A terminal is read in the foreground, by lines
  --report json       one line of JSON per event on stderr: build, start, death, detection, revoke,
                      agree, shrink, spawn, spare, suspect, node, frozen, thawed, cut, missed, short,
                      head, watch, output, leftover, lifeline, dropped, end
  --watch             serve the state of the job to programs outside it (goulfm watch, package
                      fd/watch); GOULFM_WATCH holds the address in the ranks' environment
  -q                  no event log on stderr

Faults to inject, each in the first run only:
  --kill R@D          SIGKILL rank R, D (500ms, 2s) after all ranks are in Init; may be repeated
  --kill R@NAME=K     SIGKILL rank R when it reaches Mark(NAME, K); may be repeated
  --kill nodeN@D      SIGKILL the daemon of node N and all its ranks; launcher@D: this launcher
  --kill nodeN@NAME=K the same when a rank of node N reaches the mark
  --stop nodeN@D+D2   stop node N of this machine for D2
  --cut 0,1/2,3@D+D2  cut the network between nodes of this machine for D2, D after all ranks are in
                      Init; unnamed nodes and the launcher are in the first part; 0>2@D+D2 cuts one
                      direction
  --kill-must         code 7 if a planned fault does not happen; the log names it in any case

Detection:
  --detector exact|ring   find deaths by the kernel (default), or by heartbeats between ranks; with
                      ring the launcher kills a silent rank, and no process is replaced or spawned
  --period D          period of heartbeats between nodes, or in the ring of ranks (default 100ms)
  --timeout-factor F  periods without a heartbeat before a suspicion (default 5 for nodes, 10 for
                      ranks)
  --confirm D         time for a suspected node to answer a probe before it is declared dead
                      (default: half of the timeout)
  --detection D       declare silent nodes dead within D, with few heartbeats
                      (default: by --period, --timeout-factor, --confirm)
  --link-timeout D    time for which two living nodes may fail to connect to each other, or one of
                      them to the coordinator, before one is declared dead (default 10s)
  --orphan-after D    time for which a node that lost the launcher stays frozen before it kills its
                      ranks (default 30s)
  --suspect-after D   kill a rank that shows no life for D, at least 200ms (default: never)
  --fence             with --suspect-after or --detector ring: declare such a rank dead without
                      killing it. Its messages are dropped, and it ends with code 5 when it
                      continues. Agreements and collectives use messages
  --agree node|era    ranks of a node agree in its memory, and nodes by messages (default; needs
                      exact deaths, so not with --fence), or all agree by messages

Environment of the ranks (-x): GOULFM_SPIN=N makes waiting calls poll N times before they block
(fewer if other processes need the cores). GOULFM_UNIFORM=1 revokes a communicator at the first
failure of a member.

Signals: the first SIGINT or SIGTERM goes to the ranks. The second one ends them, and so does the
end of --grace after SIGTERM. SIGQUIT reports which rank waits for which, and the job continues.

Output of ranks is not mixed inside a line. A part of a line, such as a prompt, is shown when no
rank has written for 0.1 s. Processes that ranks leave running end with the job. The event log ends
with a line with the outcome and the exit code if a rank was lost or the code is not 0.

Exit code: 0 if the surviving ranks finished without error and no rank failed (--survive); 2 usage;
126, 127 program not executable, not found; 128+n signal n; 3 launch failed; 4 too many ranks lost;
5 declared dead by the others; 6 output could not be written; 7 a planned fault did not happen
(--kill-must); 124 timeout; else the code of a rank: 1 error, 2 panic, 3 Init failed.
`

type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func run(ctx context.Context, args []string) int {
	spec, err := parseRun(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(runUsage)
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "goulfm run: %v\ngoulfm run -h lists the flags\n", err)
		return launch.ExitUsage
	}
	claim, err := rm.Recognise(os.Environ(), pmi.Alive)
	if err := rm.OneOf(claim, err); err != nil {
		if claim.Rank <= 0 { // only one of the tasks prints this
			fmt.Fprintf(os.Stderr, "goulfm run: %v\n", err)
		}
		return launch.ExitFailed
	}
	spendIdentity()
	code, err := launch.Run(ctx, spec)
	if err != nil {
		fmt.Fprintf(os.Stderr, "goulfm run: %v\n", err)
	}
	return code
}

// ringPeriod is the default period of heartbeats between ranks.
const ringPeriod = 100 * time.Millisecond

// ringFactor makes a silent rank suspect after a second. At a load of 14 on 2 cores a rank that
// computed was silent for 600 ms. With this factor no living rank was declared dead in 10 minutes
// at a load of 16 to 43.
const ringFactor = 10

// coresHere returns the number of cores that the ranks on this machine may use.
func coresHere() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }

// runFlags are the flags of goulfm run: the fields of spec, and the other flags, which are parsed
// further.
type runFlags struct {
	spec                             *launch.Spec
	survive, detector, agree, report string
	env, kills, stops, cuts          list
	must                             bool
	nodes                            nodeFlags
}

func (r *runFlags) register(f *flag.FlagSet) {
	spec := r.spec
	cores := coresHere()
	f.IntVar(&spec.N, "n", cores, "")
	f.IntVar(&spec.N, "np", cores, "")
	f.IntVar(&spec.Universe, "universe", 0, "")
	f.IntVar(&spec.Spares, "spares", 0, "")
	f.IntVar(&spec.Respawn, "respawn", 0, "")
	f.IntVar(&spec.Restarts, "restart", 0, "")
	f.StringVar(&r.survive, "survive", string(launch.SurviveKilled), "")
	f.Var(&r.env, "x", "")
	f.Var(&r.kills, "kill", "")
	f.Var(&r.stops, "stop", "")
	f.Var(&r.cuts, "cut", "")
	f.BoolVar(&r.must, "kill-must", false, "")
	f.StringVar(&spec.Dir, "wdir", "", "")
	f.BoolVar(&spec.Tag, "tag", false, "")
	f.BoolVar(&spec.Tag, "l", false, "")
	f.BoolVar(&spec.Timestamp, "timestamp", false, "")
	f.StringVar(&spec.OutputDir, "output-dir", "", "")
	f.StringVar(&spec.Stdin, "stdin", "0", "")
	f.DurationVar(&spec.Timeout, "timeout", 0, "")
	f.DurationVar(&spec.Grace, "grace", 10*time.Second, "")
	f.StringVar(&r.detector, "detector", "exact", "")
	f.DurationVar(&spec.Period, "period", ringPeriod, "")
	f.IntVar(&spec.Factor, "timeout-factor", ringFactor, "")
	f.DurationVar(&spec.SuspectAfter, "suspect-after", 0, "")
	f.BoolVar(&spec.Fence, "fence", false, "")
	f.StringVar(&r.agree, "agree", "node", "")
	f.BoolVar(&spec.Watch, "watch", false, "")
	f.StringVar(&r.report, "report", "", "")
	f.BoolVar(&spec.Quiet, "q", false, "")
	f.BoolVar(&spec.Verbose, "v", false, "")
	r.nodes.register(f, spec)
}

// registerRun declares the flags of goulfm run.
func registerRun(f *flag.FlagSet) { (&runFlags{spec: &launch.Spec{}}).register(f) }

func parseRun(args []string) (*launch.Spec, error) { return parseRunOn(nil, args) }

// parseRunOn is parseRun for a job with daemons that an engine has started. nil means no such
// daemons.
func parseRunOn(enlisted *enginejob.Enlisted, args []string) (*launch.Spec, error) {
	spec := &launch.Spec{Stdout: os.Stdout, Stderr: os.Stderr, In: os.Stdin}
	f := flag.NewFlagSet("goulfm run", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	r := runFlags{spec: spec, nodes: nodeFlags{enlisted: enlisted}}
	r.register(f)
	if err := flagtext.Parse(f, args); err != nil {
		return nil, err
	}
	if err := r.nodes.complete(f, spec); err != nil {
		return nil, err
	}
	if f.NArg() == 0 {
		return nil, errors.New("no program: goulfm run -n 4 PROGRAM|GO-PACKAGE [args...]")
	}
	spec.Program, spec.Args = f.Arg(0), f.Args()[1:]
	spec.Limited = givenOf(f)["respawn"]
	var err error
	if spec.Env, err = environment(r.env); err != nil {
		return nil, err
	}
	switch r.detector {
	case "exact", "ring":
		spec.Ring = r.detector == "ring"
	default:
		return nil, fmt.Errorf("--detector %s: want exact or ring", r.detector)
	}
	if spec.Ring && len(spec.Hosts.Nodes) == 0 && (spec.Period <= 0 || spec.Factor < 2 || spec.Period*time.Duration(spec.Factor) < 200*time.Millisecond) {
		return nil, fmt.Errorf("--period %s --timeout-factor %d: the timeout of a rank must be at least 200ms and two periods: a rank that computes beats late", spec.Period, spec.Factor)
	}
	if spec.SuspectAfter != 0 && spec.SuspectAfter < 200*time.Millisecond {
		return nil, fmt.Errorf("--suspect-after %s: want at least 200ms: a rank that computes shows life late", spec.SuspectAfter)
	}
	switch r.agree {
	case "node", "era":
		spec.Era = r.agree == "era"
	default:
		return nil, fmt.Errorf("--agree %s: want node or era", r.agree)
	}
	switch spec.Survive = launch.Survive(r.survive); spec.Survive {
	case launch.SurviveKilled, launch.SurviveAny, launch.SurviveNone:
	default:
		return nil, fmt.Errorf("--survive %s: want killed, any or none", r.survive)
	}
	if r.report != "" && r.report != "json" {
		return nil, fmt.Errorf("--report %s: want json", r.report)
	}
	spec.Report = r.report == "json"
	if spec.OutputDir != "" {
		if err := os.MkdirAll(spec.OutputDir, 0o777); err != nil {
			return nil, fmt.Errorf("--output-dir: %w", err)
		}
	}
	spec.Faults, err = parseFaults(r.kills, r.stops, r.cuts)
	spec.Must = r.must
	return spec, err
}

// parseFaults reads the faults to inject.
func parseFaults(kills, stops, cuts list) (f launch.Faults, err error) {
	if f.Kills, err = parseEach(kills, parseKill); err == nil {
		f.Stops, err = parseEach(stops, parseStop)
	}
	if err == nil {
		f.Cuts, err = parseEach(cuts, parseCut)
	}
	return f, err
}

func parseEach[T any](texts list, parse func(string) (T, error)) (all []T, err error) {
	for _, text := range texts {
		one, err := parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// environment reads the values of -x.
func environment(list []string) (out []string, err error) {
	for _, entry := range list {
		name, _, hasValue := strings.Cut(entry, "=")
		value, isSet := os.LookupEnv(name)
		switch {
		case name == "" || strings.Contains(entry, "\x00"):
			return nil, fmt.Errorf("-x %q: want NAME=VALUE, or the NAME of a variable that is set", entry)
		case hasValue:
			out = append(out, entry)
		case !isSet:
			return nil, fmt.Errorf("-x %s: %s is not set here: set it, or give it a value with -x %s=VALUE", entry, name, name)
		default:
			out = append(out, name+"="+value)
		}
	}
	return out, nil
}

// parseStop reads nodeN@D+D2.
func parseStop(text string) (launch.Stop, error) {
	bad := func() (launch.Stop, error) {
		return launch.Stop{}, fmt.Errorf("--stop %s: want nodeN@DURATION+DURATION like node1@1s+300ms", text)
	}
	who, when, _ := strings.Cut(text, "@")
	after, long, _ := strings.Cut(when, "+")
	number, isNode := strings.CutPrefix(who, "node")
	node, err := strconv.Atoi(number)
	d, err1 := time.ParseDuration(after)
	d2, err2 := time.ParseDuration(long)
	if !isNode || errors.Join(err, err1, err2) != nil || node < 0 || d < 0 || d2 <= 0 {
		return bad()
	}
	return launch.Stop{Text: text, Node: node, After: d, For: d2}, nil
}

// parseCut reads 0,1/2,3@D+D2 and 0>2@D+D2.
func parseCut(text string) (launch.Cut, error) {
	who, when, _ := strings.Cut(text, "@")
	after, long, _ := strings.Cut(when, "+")
	d, err1 := time.ParseDuration(after)
	d2, err2 := time.ParseDuration(long)
	cut := launch.Cut{Text: text, OneWay: strings.Contains(who, ">"), After: d, For: d2}
	separator := "/"
	if cut.OneWay {
		separator = ">"
	}
	seen, err := map[int]bool{}, errors.Join(err1, err2)
	for part := range strings.SplitSeq(who, separator) {
		var group []int
		for name := range strings.SplitSeq(part, ",") {
			node, bad := strconv.Atoi(strings.TrimPrefix(name, "node"))
			if name == "launcher" {
				node, bad = launch.LauncherNode, nil
			}
			if seen[node] {
				return cut, fmt.Errorf("--cut %s: %s is on two sides", text, name)
			}
			seen[node] = true
			err = errors.Join(err, bad)
			group = append(group, node)
		}
		cut.Groups = append(cut.Groups, group)
	}
	if err != nil || len(cut.Groups) < 2 || cut.OneWay && len(cut.Groups) != 2 || d < 0 || d2 <= 0 {
		return cut, fmt.Errorf("--cut %s: want groups of nodes and times, as 0,1/2,3@2s+5s or, one way, 0>2@1s+2s", text)
	}
	return cut, nil
}

// parseKill reads R@D and R@NAME=K.
func parseKill(text string) (launch.Kill, error) {
	bad := func(why string) (launch.Kill, error) {
		return launch.Kill{}, fmt.Errorf("--kill %s: %s: want RANK@DURATION like 3@500ms, or RANK@NAME=K like 3@step=40 (nodeN for RANK: a whole node)", text, why)
	}
	who, when, ok := strings.Cut(text, "@")
	if !ok {
		return bad("no @")
	}
	if who == "launcher" {
		d, err := time.ParseDuration(when)
		if err != nil || d < 0 {
			return bad("bad duration " + strconv.Quote(when))
		}
		return launch.Kill{Text: text, Self: true, After: d}, nil
	}
	number, isNode := strings.CutPrefix(who, "node")
	rank, err := strconv.Atoi(number)
	if err != nil || isNode && rank < 0 {
		return bad("bad rank " + strconv.Quote(who))
	}
	k := launch.Kill{Text: text, Rank: rank}
	if isNode {
		k = launch.Kill{Text: text, Node: rank + 1}
	}
	if name, value, ok := strings.Cut(when, "="); ok {
		k.Point = name
		if k.Value, err = strconv.Atoi(value); err != nil || name == "" {
			return bad("bad point " + strconv.Quote(when))
		}
		return k, nil
	}
	if k.After, err = time.ParseDuration(when); err != nil || k.After < 0 {
		return bad("bad duration " + strconv.Quote(when))
	}
	return k, nil
}
