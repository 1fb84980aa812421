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

	"github.com/goulfm/goulfm/internal/joblaunch/enginejob"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/goulfm/goulfm/internal/net/pmi"
)

const runUsage = `usage: goulfm run [flags] PROGRAM|GO-PACKAGE [args...]

Starts ranks of a program on this machine, or on several. A Go file, or a directory with Go files,
is built first; a name without a slash is first looked up in PATH, so say ./DIR. More
ranks than cores is normal.

  -n, -np N           ranks (default: one per usable core)
  --host HOSTS        several nodes, with memory of their own and TCP between them: a:2,b:2 are two hosts for two ranks
                      each; a number, as 4, is so many nodes on this machine
  --hostfile FILE     the same from a file, a host a line: a slots=2
  --ppn N             ranks of each node that does not say how many (default 1); -n is all of them by default
  --launcher local|ssh|slurm   how the daemons of the nodes are started (default: local where all hosts are this
                      machine, else ssh). In an allocation of Slurm's, without --host: slurm, on all its nodes, with as
                      many ranks of each as it has tasks there; local stays on this machine
  --rsh CMD           instead of ssh: CMD HOST goulfm daemon
  --daemon-path PATH  goulfm on the hosts (default: the path of this one)
  --iface ADDR        address of this machine at which the hosts reach it (default: any)
  --start-timeout D   by when all daemons must be there (default 30s)
  --secure tls|auth   how nodes talk: encrypted, or with no more than a proof that both are of the job (default: tls,
                      and auth where all nodes are this machine)
  --confirm D         what a silent node has to answer after its timeout (default: half of that)
  --detection D       silent nodes are suspected within D, by as few heartbeats between them as
                      the network allows (default: by --period, --timeout-factor, --confirm)
  --link-timeout D    how long two living nodes may fail to reach each other before one is given up (default 10s)
  --orphan-after D    when a node ends that stands still because nothing of the launcher reaches it (default 30s)
  --spares N          N processes beside the ranks that wait for one to replace, warm: they are in Init, and have done what
                      Config.Warm says. One that dies is followed by another, one that is used too, 0.1 s later
  --respawn N         at most N processes may be started to replace others, or spares that did (default: no limit)
  --restart N         when none of the ranks is left, and none has finished, start all anew, at most N times: with package
                      recovery they go on from the memory of the machine, or from files. What is planned to go wrong
                      does so once. On several nodes only files are left
  --survive-launcher  the nodes go on without the launcher, and without a minority of launcher and nodes that goes at
                      once; needs --output-dir, which each node then has for itself
  --universe N        processes that the job can have at a time, with those that it starts itself (default: twice -n and
                      16). The place of one that has ended is used again
  --survive WHAT      which failures leave the job a success if others finish (default killed):
                        killed   of ranks that something ended without their doing: by a signal, or declared dead.
                                 A rank that says that it failed fails the job: by an exit code, an error or a panic
                                 of its body, an exit without Finalize, Abort; the others may go on, and the job's
                                 code is that of the first which said so
                        any      all
                        none     none: the first loss ends the job
  -x NAME[=VALUE]     set an environment variable, or pass the value that it has here; may be repeated
  --wdir DIR          working directory of the ranks
  --tag, -l           begin each line of output with its rank
  --timestamp         begin each line of output with the seconds since the start
  --output-dir DIR    write rank.N.out and rank.N.err there instead of to the terminal
  --stdin RANK        the rank that reads the input, or none, or all (default 0). What it does not read stays there; of
                      a terminal the job reads in the foreground alone, a line at a time
  --grace D           kill ranks that have not ended D after the first SIGTERM (default 10s; 0: never. Under Slurm and
                      other job engines 0: they kill what does not end)
  --timeout D         after D say who waits for whom, print all stacks, stop the job (code 124)
  --kill R@D          SIGKILL rank R, D (500ms, 2s) after all ranks are in Init; may be repeated
  --kill nodeN@D      SIGKILL the daemon of node N, and so all that runs there; launcher@D this launcher
  --stop nodeN@D+D2   have node N, one of this machine, stand still for D2, as a machine that is paused
  --cut 0,1/2,3@D+D2  cut the network between nodes of this machine, D after all ranks are in Init, for D2: the launcher
                      and nodes that are not named are with the first; 0>2@D+D2: only what node 0 says to node 2
  --kill R@NAME=K     SIGKILL rank R when it reaches Mark(NAME, K); may be repeated
  --kill nodeN@NAME=K SIGKILL node N when one of its ranks reaches that
  --kill-must         code 7 if a planned fault (--kill, --stop, --cut) does not happen; the log names it in any case
  --suspect-after D   kill a rank that shows no life for D, as one that is stopped; never below 200ms (default: never)
  --fence             with --suspect-after or --detector ring: declare such a rank dead without killing it; when it
                      goes on it hears so and ends with code 5, and nobody hears it. Agreements and collectives go
                      by messages
  --detector exact|ring   how deaths are found: by the kernel (default), or by heartbeats between ranks, which have
                      the launcher kill a rank that is silent. With ring no process is replaced or spawned
  --period D          of the heartbeats, of nodes or of the ring of ranks (default 100ms)
  --timeout-factor F  how many periods a silent node or rank is waited for (default 5 for nodes, 4 for ranks)
  --agree node|era    how ranks agree: those of a node in its memory, which takes exact deaths (no --fence), and
                      nodes by messages (default); or all by messages
  --watch             tell programs that are no ranks who lives: goulfm watch, package fd/watch. GOULFM_WATCH says where,
                      in the environment of ranks on this machine and of what they start
  --report json       one line of JSON per event on stderr: build, start, death, detection, revoke, agree,
                      shrink, spawn, spare, suspect, node, frozen, thawed, cut, missed, short, head, watch, output,
                      leftover, lifeline, dropped, end
  -q                  no story on stderr

Environment of the ranks (-x): GOULFM_SPIN=N has waits look N times before they sleep (less where others want the
cores), GOULFM_UNIFORM=1 revokes a communicator with the first failure of a member.

Signals: the first SIGINT or SIGTERM goes to the ranks, the second ends them, and so
does the end of --grace after SIGTERM; SIGQUIT says who waits for whom and goes on.

Output: ranks do not interleave inside a line. A part of a line, such as a prompt, is shown when no rank has written
for 0.1 s.

What ranks have started and left running ends with the job.

Exit code: 0 when the surviving ranks finished without error and no rank said that
it failed (--survive); 2 usage; 126/127 program not executable/not found; 128+n
signal n; 3 launch failed; 4 too many ranks lost; 6 output could not be written; 7 a
planned fault did not happen (--kill-must); 124 timeout; else the code of a rank:
1 error, 2 panic, 3 Init failed.
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
		if claim.Rank <= 0 { // one of those tasks says so
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

// ringPeriod is that of heartbeats between ranks, unless somebody says another.
const ringPeriod = 100 * time.Millisecond

// coresHere are those that the ranks of this machine may use.
func coresHere() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }

func parseRun(args []string) (*launch.Spec, error) { return parseRunOn(nil, args) }

// parseRunOn is parseRun for a job whose daemons an engine has started; nil: there are none.
func parseRunOn(enlisted *enginejob.Enlisted, args []string) (*launch.Spec, error) {
	spec := &launch.Spec{Stdout: os.Stdout, Stderr: os.Stderr, In: os.Stdin}
	f := flag.NewFlagSet("goulfm run", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	cores := coresHere()
	f.IntVar(&spec.N, "n", cores, "")
	f.IntVar(&spec.N, "np", cores, "")
	f.IntVar(&spec.Universe, "universe", 0, "")
	f.IntVar(&spec.Spares, "spares", 0, "")
	f.IntVar(&spec.Respawn, "respawn", 0, "")
	f.IntVar(&spec.Restarts, "restart", 0, "")
	survive := f.String("survive", string(launch.SurviveKilled), "")
	var env, kills, stops, cuts list
	f.Var(&env, "x", "")
	f.Var(&kills, "kill", "")
	f.Var(&stops, "stop", "")
	f.Var(&cuts, "cut", "")
	must := f.Bool("kill-must", false, "")
	f.StringVar(&spec.Dir, "wdir", "", "")
	f.BoolVar(&spec.Tag, "tag", false, "")
	f.BoolVar(&spec.Tag, "l", false, "")
	f.BoolVar(&spec.Timestamp, "timestamp", false, "")
	f.StringVar(&spec.OutputDir, "output-dir", "", "")
	f.StringVar(&spec.Stdin, "stdin", "0", "")
	f.DurationVar(&spec.Timeout, "timeout", 0, "")
	f.DurationVar(&spec.Grace, "grace", 10*time.Second, "")
	detector := f.String("detector", "exact", "")
	f.DurationVar(&spec.Period, "period", ringPeriod, "")
	f.IntVar(&spec.Factor, "timeout-factor", 4, "")
	f.DurationVar(&spec.SuspectAfter, "suspect-after", 0, "")
	f.BoolVar(&spec.Fence, "fence", false, "")
	agree := f.String("agree", "node", "")
	f.BoolVar(&spec.Watch, "watch", false, "")
	report := f.String("report", "", "")
	f.BoolVar(&spec.Quiet, "q", false, "")
	nodes := nodeFlags{enlisted: enlisted}
	nodes.register(f, spec)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if err := nodes.complete(f, spec); err != nil {
		return nil, err
	}
	if f.NArg() == 0 {
		return nil, errors.New("no program: goulfm run -n 4 PROGRAM|GO-PACKAGE [args...]")
	}
	spec.Program, spec.Args = f.Arg(0), f.Args()[1:]
	spec.Limited = givenOf(f)["respawn"]
	var err error
	if spec.Env, err = environment(env); err != nil {
		return nil, err
	}
	switch *detector {
	case "exact", "ring":
		spec.Ring = *detector == "ring"
	default:
		return nil, fmt.Errorf("--detector %s: want exact or ring", *detector)
	}
	if spec.Ring && len(spec.Hosts.Nodes) == 0 && (spec.Period <= 0 || spec.Factor < 2 || spec.Period*time.Duration(spec.Factor) < 200*time.Millisecond) {
		return nil, fmt.Errorf("--period %s --timeout-factor %d: the timeout of a rank must be at least 200ms and two periods: a rank that computes beats late", spec.Period, spec.Factor)
	}
	if spec.SuspectAfter != 0 && spec.SuspectAfter < 200*time.Millisecond {
		return nil, fmt.Errorf("--suspect-after %s: want at least 200ms: a rank that computes shows life late", spec.SuspectAfter)
	}
	switch *agree {
	case "node", "era":
		spec.Era = *agree == "era"
	default:
		return nil, fmt.Errorf("--agree %s: want node or era", *agree)
	}
	switch spec.Survive = launch.Survive(*survive); spec.Survive {
	case launch.SurviveKilled, launch.SurviveAny, launch.SurviveNone:
	default:
		return nil, fmt.Errorf("--survive %s: want killed, any or none", *survive)
	}
	if *report != "" && *report != "json" {
		return nil, fmt.Errorf("--report %s: want json", *report)
	}
	spec.Report = *report == "json"
	if spec.OutputDir != "" {
		if err := os.MkdirAll(spec.OutputDir, 0o777); err != nil {
			return nil, fmt.Errorf("--output-dir: %w", err)
		}
	}
	spec.Faults, err = parseFaults(kills, stops, cuts)
	spec.Must = *must
	return spec, err
}

// parseFaults reads what is planned to go wrong.
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
