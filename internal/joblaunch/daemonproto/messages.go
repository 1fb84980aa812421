// Package daemonproto defines the messages between the launcher of a job and the daemons of its
// nodes: one line of JSON each, {"what": type, "body": ...}, over a connection between members of
// the job (package socket). The launcher decides; daemons act and report:
//
//	daemon:   Hello
//	launcher: Plan                    what the node is
//	daemon:   Ready                   its listeners are there
//	launcher: Part ...                the program, if the node lacks it
//	launcher: Table, Start ..., Go    where everybody listens; what the node runs first
//	daemon:   Begun
//	launcher: Welcome                 another node has come; Welcomed answers
//	          then, in any order, what happens and what is to be done about it
//	launcher: Settle                  all processes have ended
//	daemon:   Settled                 nothing is left of them; all that they printed was passed on
//
// A daemon whose connection ends kills its processes and ends, unless the job may outlive its
// launcher. A launcher that loses the connection to a daemon declares the node lost.
package daemonproto

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// A Message is one of the types of this file. Proc is the number of a process, which is never
// reused: the process that a late message names is never taken for the next process in its slot.
type Message interface{ what() string }

// Bootstrap is the first line on the standard input of a daemon.
type Bootstrap struct {
	Job    uint64   `json:"job"`
	Secret []byte   `json:"secret"` // never in arguments or the environment
	Node   int      `json:"node"`
	Addrs  []string `json:"heads"`          // addresses at which the launcher listens
	Birth  uint64   `json:"birth"`          // of the launcher
	Secure string   `json:"secure"`         // protection of the connections between members of the job: see socket.ParseMode
	Late   bool     `json:"late,omitempty"` // the job runs already: a daemon that fails to join harms nobody
	Build  uint32   `json:"build"`          // of the launcher: buildid.Build
}

// Hello is a daemon's first message.
type Hello struct {
	Node   int    `json:"node"`
	Pid    int    `json:"pid"`
	Host   string `json:"host"`
	Arch   string `json:"arch"`
	Build  uint32 `json:"build"` // of the daemon: buildid.Build
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"` // id of the kernel's boot: nodes with the same one share its cores
	Member Member `json:"member"`
	Rack   string `json:"rack,omitempty"` // of the node, as its job engine reports it; empty: not known
}

// A Member is the launcher or a daemon as one of the processes that monitor each other (package
// membershiphost).
type Member struct {
	Birth   uint64 `json:"birth"`
	Addr    string `json:"addr"`    // TCP
	Packets string `json:"packets"` // UDP
}

// Beats are the times by which members monitor each other; 0: see membership.Config.
type Beats struct {
	Period  time.Duration `json:"periodNs"`
	Timeout time.Duration `json:"timeoutNs"`
	Confirm time.Duration `json:"confirmNs"`
	Link    time.Duration `json:"linkNs"`
	Orphan  time.Duration `json:"orphanNs"`
	Survive bool          `json:"survive,omitempty"` // the job may outlive its launcher

	// Detection is the time within which a silent node is detected, with as few heartbeats of the
	// ring as possible; 0: by the times above.
	Detection time.Duration `json:"detectionNs,omitempty"`
}

// Roster returns the configuration of member me of that many members.
func (b Beats) Roster(members, me int) membership.Config {
	c := membership.Config{Members: members, Me: me, Period: mono.Duration(b.Period), Timeout: mono.Duration(b.Timeout),
		Confirm: mono.Duration(b.Confirm), Link: mono.Duration(b.Link), Orphan: mono.Duration(b.Orphan), Survive: b.Survive}
	if b.Detection != 0 {
		c.Adaptive = &adaptive.QoS{Detection: adaptive.Duration(b.Detection)}
	}
	return c
}

// Plan describes the node: it has these slots, ascending, of the Procs slots of the job. The
// output of its processes is written to files in OutputDir there, or sent to the launcher if that
// is empty.
type Plan struct {
	Procs     int    `json:"procs"`
	Slots     []int  `json:"seats"`
	OutputDir string `json:"outputDir,omitempty"`

	Homes   int      `json:"homes,omitempty"`   // number of ranks with a home in the memory of the node that outlives processes
	Program *Program `json:"program,omitempty"` // the program of the job; nil: the node has to have it
}

// OutputFile returns the file in a folder for the output of a process, on standard error or on
// standard output.
func OutputFile(dir string, proc int, errs bool) string {
	stream := "out"
	if errs {
		stream = "err"
	}
	return filepath.Join(dir, fmt.Sprintf("rank.%d.%s", proc, stream))
}

// A Program is a file that processes execute. A node without the file at that path, or with
// another one, receives it.
type Program struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Sum   []byte `json:"sum"` // SHA-256
}

// Ready reports the addresses at which the processes of the node will listen, in the order of
// Plan.Slots, and their births.
type Ready struct {
	Addrs  []string `json:"addrs"`
	Births []uint64 `json:"births"`
	Lacks  bool     `json:"lacks,omitempty"` // the node lacks the program: the launcher has to send Parts
}

// Part is the next part of the program.
type Part struct {
	Data []byte `json:"data"`
}

// Table is the address, birth and node of each slot of the job. Members are the addresses of the
// launcher and of the daemons, in this order.
type Table struct {
	Addrs   []string `json:"addrs"`
	Births  []uint64 `json:"births"`
	Nodes   []int    `json:"nodes"`
	Members []Member `json:"members"`
	Beats   Beats    `json:"beats"`
	Crowd   int      `json:"crowd"` // ranks per core among the first ranks, rounded up, on the node with the most

	Racks  []int `json:"racks,omitempty"`  // of each node, numbers above 0; 0: not known; nil: none is known
	Absent []int `json:"absent,omitempty"` // nodes that have not come yet: their slots and their Member are empty
	Late   bool  `json:"late,omitempty"`   // the node was one of the absent nodes
	Used   []int `json:"used,omitempty"`   // by slot, to a node that comes late: number of processes that had the slot before
}

// Roster returns the configuration of member me.
func (t Table) Roster(me int) membership.Config {
	c := t.Beats.Roster(len(t.Members), me)
	for _, node := range t.Absent {
		c.Absent.Add(node + 1)
	}
	c.Late = t.Late
	if t.Racks != nil {
		c.Racks = append([]int{0}, t.Racks...) // the launcher is in a rack of its own
	}
	return c
}

// Welcome reports that a node which was Absent has come: the address of its daemon, and its
// slots. The receiver answers with Welcomed as soon as processes that start there later can be
// reached from it.
type Welcome struct {
	Node   int      `json:"node"`
	Member Member   `json:"member"`
	Slots  []int    `json:"seats"`
	Addrs  []string `json:"addrs"`  // in the order of Slots
	Births []uint64 `json:"births"` // likewise
}

// Welcomed answers a Welcome, or reports the failure.
type Welcomed struct {
	Node int    `json:"node"`
	Why  string `json:"why,omitempty"`
}

// Start orders a process. Before Go the daemon only keeps the order. After Go the daemon starts the
// process at once and answers with Started.
type Start struct {
	Proc  int             `json:"proc"`
	Path  string          `json:"path"`
	Argv  []string        `json:"argv"`
	Dir   string          `json:"dir,omitempty"`
	Env   []string        `json:"env,omitempty"`
	Info  json.RawMessage `json:"info"`            // boot.Info
	Stdin bool            `json:"stdin,omitempty"` // Input follows
}

// Go starts the first processes. Begun answers.
type Go struct{}

// Begun reports that the first processes run, or the failure. The daemon has sent Started for
// each before.
type Begun struct {
	Why string `json:"why,omitempty"`
}

// Started reports that a process runs, or the failure.
type Started struct {
	Proc int    `json:"proc"`
	Pid  int    `json:"pid"`
	Why  string `json:"why,omitempty"`
}

// Input is standard input for a process; with End it is the last.
type Input struct {
	Proc int    `json:"proc"`
	Data []byte `json:"data,omitempty"`
	End  bool   `json:"end,omitempty"`
}

// Taken reports how much of an Input the process has read. If the process reads no more, Gone is
// set. Otherwise Bytes is all of the Input, and the launcher may send the next one.
type Taken struct {
	Proc  int  `json:"proc"`
	Bytes int  `json:"bytes"`
	Gone  bool `json:"gone,omitempty"`
}

// Output is the next piece of the output of a process; with End it is the last.
type Output struct {
	Proc int    `json:"proc"`
	Errs bool   `json:"errs,omitempty"`
	Data []byte `json:"data,omitempty"`
	End  bool   `json:"end,omitempty"`
}

// Credit reports that the launcher has passed on Bytes of Output, so that the daemon may send
// that many more.
type Credit struct {
	Bytes int `json:"bytes"`
}

// The orders of the launcher; each is a method of the daemon with that name.
type (
	// Announce makes known to the processes of the node that the processes of slots below N run,
	// or will run.
	Announce struct {
		N int `json:"n"`
	}
	// Declare adds a process to the node's list of departures, and wakes all processes. Lost: it
	// was declared dead without exact evidence.
	Declare struct {
		Proc int  `json:"proc"`
		Left bool `json:"left,omitempty"`
		Lost bool `json:"lost,omitempty"`
	}
	// Signal sends a signal to a process, or to all processes of the node for -1.
	Signal struct {
		Proc int `json:"proc"`
		Sig  int `json:"sig"`
	}
	// Hold freezes the node, including the beats of its daemon, as the launcher freezes itself.
	// With On false the node continues.
	Hold struct {
		On bool `json:"on"`
	}
	// KillAll ends all processes of the node.
	KillAll struct{}
	// Say passes a line of package rankproto on to a process.
	Say struct {
		Proc int    `json:"proc"`
		Line []byte `json:"line"`
	}
	// Watch makes the daemon detect the deaths of the processes of a slot from now on.
	Watch struct {
		Slot int `json:"seat"`
	}
	// WatchLife makes the daemon detect processes that show no life for AfterNs.
	WatchLife struct {
		AfterNs int64 `json:"afterNs"`
	}
	// EndFenced ends a process that was declared dead and still runs.
	EndFenced struct {
		Proc int `json:"proc"`
	}
	// Census requests the slots of departed processes, and the processes that refer to them:
	// Holdings answers.
	Census struct{}
	// Vacate makes the node forget a process, so that another can have its slot: Vacated answers.
	Vacate struct {
		Proc int `json:"proc"`
	}
	// Settle ends all processes that the ranks have left behind.
	Settle struct{}
	// Die makes the daemon kill itself, as a planned death of its node.
	Die struct{}
)

// The reports of the daemon; each is a method of its host with that name.
type (
	// Found reports that a process has ended.
	Found struct {
		Proc int          `json:"proc"`
		By   job.Evidence `json:"by"`
		Left bool         `json:"left,omitempty"`
		AtNs int64        `json:"atNs"`
	}
	// Reaped reports the status with which the process ended.
	Reaped struct {
		Proc   int        `json:"proc"`
		Status job.Status `json:"status"`
	}
	// Heard reports that all messages of an ended process were passed on.
	Heard struct {
		Proc int `json:"proc"`
	}
	// Said passes a line of package rankproto on from a process.
	Said struct {
		Proc int    `json:"proc"`
		Line []byte `json:"line"`
	}
	// NoLife reports that a process shows no life.
	NoLife struct {
		Proc int   `json:"proc"`
		AtNs int64 `json:"atNs"`
	}
	// Holdings are the slots of departed processes, as far as the node knows, and its own
	// processes that may refer to them.
	Holdings struct {
		All []job.Holding `json:"all"`
	}
	// Vacated reports that the node has forgotten a process, or the failure.
	Vacated struct {
		Proc int    `json:"proc"`
		Why  string `json:"why,omitempty"`
	}
	// Note is a text for the user.
	Note struct {
		Event string `json:"event"`
		Text  string `json:"text"`
	}
	// Notice reports that the job engine reclaims this node while the job continues. The launcher
	// starts no more processes there, and the daemon ends those of the node after AfterNs.
	Notice struct {
		AfterNs int64 `json:"afterNs"`
	}
	// Unwritten reports why the node could not write the output of a process, which is lost.
	Unwritten struct {
		Why string `json:"why"`
	}
	// Settled reports that no process is left, and that all output was passed on.
	Settled struct{}
	// Failed reports why the daemon cannot continue.
	Failed struct {
		Why string `json:"why"`
	}
)

func (Hello) what() string     { return "hello" }
func (Plan) what() string      { return "plan" }
func (Ready) what() string     { return "ready" }
func (Part) what() string      { return "part" }
func (Table) what() string     { return "table" }
func (Welcome) what() string   { return "welcome" }
func (Welcomed) what() string  { return "welcomed" }
func (Start) what() string     { return "start" }
func (Go) what() string        { return "go" }
func (Begun) what() string     { return "begun" }
func (Started) what() string   { return "started" }
func (Input) what() string     { return "input" }
func (Taken) what() string     { return "taken" }
func (Output) what() string    { return "output" }
func (Credit) what() string    { return "credit" }
func (Announce) what() string  { return "announce" }
func (Declare) what() string   { return "declare" }
func (Signal) what() string    { return "signal" }
func (Hold) what() string      { return "hold" }
func (KillAll) what() string   { return "killall" }
func (Say) what() string       { return "say" }
func (Watch) what() string     { return "watch" }
func (WatchLife) what() string { return "watchlife" }
func (EndFenced) what() string { return "endfenced" }
func (Census) what() string    { return "census" }
func (Vacate) what() string    { return "vacate" }
func (Settle) what() string    { return "settle" }
func (Die) what() string       { return "die" }
func (Found) what() string     { return "found" }
func (Reaped) what() string    { return "reaped" }
func (Heard) what() string     { return "heard" }
func (Said) what() string      { return "said" }
func (NoLife) what() string    { return "nolife" }
func (Holdings) what() string  { return "holdings" }
func (Vacated) what() string   { return "vacated" }
func (Note) what() string      { return "note" }
func (Notice) what() string    { return "notice" }
func (Unwritten) what() string { return "unwritten" }
func (Settled) what() string   { return "settled" }
func (Failed) what() string    { return "failed" }

// kindOf returns the function that reads the body of a type of message, or nil.
func kindOf(what string) func([]byte) (Message, error) {
	for _, k := range [...]struct {
		m    Message
		read func([]byte) (Message, error)
	}{
		{Hello{}, readHello}, {Plan{}, body[Plan]}, {Ready{}, body[Ready]}, {Part{}, body[Part]}, {Table{}, body[Table]}, {Welcome{}, body[Welcome]}, {Welcomed{}, body[Welcomed]}, {Start{}, body[Start]},
		{Go{}, body[Go]}, {Begun{}, body[Begun]}, {Started{}, body[Started]}, {Input{}, body[Input]}, {Taken{}, body[Taken]}, {Output{}, body[Output]},
		{Credit{}, body[Credit]}, {Announce{}, body[Announce]}, {Declare{}, body[Declare]}, {Signal{}, body[Signal]},
		{Hold{}, body[Hold]}, {KillAll{}, body[KillAll]}, {Say{}, body[Say]}, {Watch{}, body[Watch]},
		{WatchLife{}, body[WatchLife]}, {EndFenced{}, body[EndFenced]}, {Census{}, body[Census]}, {Vacate{}, body[Vacate]}, {Settle{}, body[Settle]}, {Die{}, body[Die]},
		{Found{}, body[Found]}, {Reaped{}, body[Reaped]}, {Heard{}, body[Heard]}, {Said{}, body[Said]}, {NoLife{}, body[NoLife]},
		{Holdings{}, body[Holdings]}, {Vacated{}, body[Vacated]}, {Note{}, body[Note]}, {Notice{}, body[Notice]}, {Unwritten{}, body[Unwritten]}, {Settled{}, body[Settled]}, {Failed{}, body[Failed]},
	} {
		if k.m.what() == what {
			return k.read
		}
	}
	return nil
}

// readHello reads only the node and the build from a Hello of another build.
func readHello(text []byte) (Message, error) {
	if stamp, err := buildid.Read(text); err == nil && !stamp.IsOurs() {
		return Hello{Node: stamp.Node, Build: stamp.Build}, nil
	}
	return body[Hello](text)
}

func body[M Message](text []byte) (Message, error) {
	var m M
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", m.what(), err)
	}
	return m, nil
}
