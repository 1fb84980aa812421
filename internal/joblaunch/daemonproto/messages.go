// Package daemonproto holds the messages between the launcher of a job and the daemons of its
// nodes: one line of JSON each, {"what": type, "body": ...}, over a connection between members of
// the job (package socket). The launcher decides, daemons act and tell:
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
// launcher; a launcher that loses a daemon takes the node for lost.
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

// A Message is one of the types of this file. Proc is the number of a process, which no other
// process ever has: the process that a late message names is never taken for the next one in its
// slot.
type Message interface{ what() string }

// Bootstrap is what a daemon is told when it is started, by a line on its standard input.
type Bootstrap struct {
	Job    uint64   `json:"job"`
	Secret []byte   `json:"secret"` // never in arguments or the environment
	Node   int      `json:"node"`
	Addrs  []string `json:"heads"`          // addresses at which the launcher listens
	Birth  uint64   `json:"birth"`          // of the launcher
	Secure string   `json:"secure"`         // how all members of the job talk: see socket.ParseMode
	Late   bool     `json:"late,omitempty"` // the job runs: a daemon that does not come to take part harms nobody
	Build  uint32   `json:"build"`          // of the launcher: buildid.Build
}

// Hello begins what a daemon says.
type Hello struct {
	Node   int    `json:"node"`
	Pid    int    `json:"pid"`
	Host   string `json:"host"`
	Arch   string `json:"arch"`
	Build  uint32 `json:"build"` // of the daemon: buildid.Build
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"` // its boot: nodes with the same one share its cores
	Member Member `json:"member"`
	Rack   string `json:"rack,omitempty"` // of the node, as its job engine reports it; empty: not known
}

// A Member is the launcher or a daemon as one of those who watch each other (package
// membershiphost).
type Member struct {
	Birth   uint64 `json:"birth"`
	Addr    string `json:"addr"`    // TCP
	Packets string `json:"packets"` // UDP
}

// Beats are the times by which they do; 0: see membership.Config.
type Beats struct {
	Period  time.Duration `json:"periodNs"`
	Timeout time.Duration `json:"timeoutNs"`
	Confirm time.Duration `json:"confirmNs"`
	Link    time.Duration `json:"linkNs"`
	Orphan  time.Duration `json:"orphanNs"`
	Survive bool          `json:"survive,omitempty"` // the job may outlive its launcher

	// Detection is how soon a silent node is known, at as few heartbeats of the ring as will do; 0:
	// by the times above.
	Detection time.Duration `json:"detectionNs,omitempty"`
}

// Roster returns the configuration of member me of so many.
func (b Beats) Roster(members, me int) membership.Config {
	c := membership.Config{Members: members, Me: me, Period: mono.Duration(b.Period), Timeout: mono.Duration(b.Timeout),
		Confirm: mono.Duration(b.Confirm), Link: mono.Duration(b.Link), Orphan: mono.Duration(b.Orphan), Survive: b.Survive}
	if b.Detection != 0 {
		c.Adaptive = &adaptive.QoS{Detection: adaptive.Duration(b.Detection)}
	}
	return c
}

// Plan says what the node is: it has these slots, ascending, of Procs that the job has. What its
// processes print goes to files in OutputDir there, or to the launcher if that is empty.
type Plan struct {
	Procs     int    `json:"procs"`
	Slots     []int  `json:"seats"`
	OutputDir string `json:"outputDir,omitempty"`

	Homes   int      `json:"homes,omitempty"`   // so many ranks have a home in the node's memory that outlives processes
	Program *Program `json:"program,omitempty"` // that of the job; nil: it has to be there
}

// OutputFile is the file in a folder to which what a process prints goes, on standard error or on
// standard output.
func OutputFile(dir string, proc int, errs bool) string {
	stream := "out"
	if errs {
		stream = "err"
	}
	return filepath.Join(dir, fmt.Sprintf("rank.%d.%s", proc, stream))
}

// A Program is a file that processes execute: a node that has another one, or none, at that path
// gets it.
type Program struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Sum   []byte `json:"sum"` // SHA-256
}

// Ready says where the processes of the node will listen, in the order of Plan.Slots, and their
// births.
type Ready struct {
	Addrs  []string `json:"addrs"`
	Births []uint64 `json:"births"`
	Lacks  bool     `json:"lacks,omitempty"` // the program: Parts are to follow
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
	Crowd   int      `json:"crowd"` // how many of the first ranks share a core, rounded up, where that is the most

	Racks  []int `json:"racks,omitempty"`  // of each node, numbers above 0; 0: not known; nil: none is known
	Absent []int `json:"absent,omitempty"` // nodes that are not there yet: their slots and their Member are empty
	Late   bool  `json:"late,omitempty"`   // the node was one of them
	Used   []int `json:"used,omitempty"`   // by slot, to one that comes late: how many processes had it before
}

// Roster returns the configuration of member me.
func (t Table) Roster(me int) membership.Config {
	c := t.Beats.Roster(len(t.Members), me)
	for _, node := range t.Absent {
		c.Absent.Add(node + 1)
	}
	c.Late = t.Late
	if t.Racks != nil {
		c.Racks = append([]int{0}, t.Racks...) // the launcher is a rack of its own
	}
	return c
}

// Welcome says that a node is there that was Absent: where its daemon is reached, and its slots.
// Welcomed answers, when processes that are started there later can be reached from this node.
type Welcome struct {
	Node   int      `json:"node"`
	Member Member   `json:"member"`
	Slots  []int    `json:"seats"`
	Addrs  []string `json:"addrs"`  // in the order of Slots
	Births []uint64 `json:"births"` // likewise
}

// Welcomed answers, or says why not.
type Welcomed struct {
	Node int    `json:"node"`
	Why  string `json:"why,omitempty"`
}

// Start has a process started. Before Go it only waits for it; after it Started answers.
type Start struct {
	Proc  int             `json:"proc"`
	Path  string          `json:"path"`
	Argv  []string        `json:"argv"`
	Dir   string          `json:"dir,omitempty"`
	Env   []string        `json:"env,omitempty"`
	Info  json.RawMessage `json:"info"`            // boot.Info
	Stdin bool            `json:"stdin,omitempty"` // Input follows
}

// Go has the first processes started. Begun answers.
type Go struct{}

// Begun says that the first processes run, or why not. Started was said of each before.
type Begun struct {
	Why string `json:"why,omitempty"`
}

// Started says that a process runs, or why not.
type Started struct {
	Proc int    `json:"proc"`
	Pid  int    `json:"pid"`
	Why  string `json:"why,omitempty"`
}

// Input is what a process reads; End: it is all.
type Input struct {
	Proc int    `json:"proc"`
	Data []byte `json:"data,omitempty"`
	End  bool   `json:"end,omitempty"`
}

// Taken says how much of an Input the process has read: all of it, and the next one may come; or it
// is Gone, and reads no more.
type Taken struct {
	Proc  int  `json:"proc"`
	Bytes int  `json:"bytes"`
	Gone  bool `json:"gone,omitempty"`
}

// Output is the next piece of what a process has printed. End: it is all.
type Output struct {
	Proc int    `json:"proc"`
	Errs bool   `json:"errs,omitempty"`
	Data []byte `json:"data,omitempty"`
	End  bool   `json:"end,omitempty"`
}

// Credit says that so many bytes of Output were passed on, and the daemon may send as many.
type Credit struct {
	Bytes int `json:"bytes"`
}

// What the launcher orders; each is a method of the daemon of that name.
type (
	// Announce has the processes of the node know that those of slots below N are there, or
	// will be.
	Announce struct {
		N int `json:"n"`
	}
	// Declare puts a process into the node's list of departures, and wakes all. Lost: without
	// exact evidence.
	Declare struct {
		Proc int  `json:"proc"`
		Left bool `json:"left,omitempty"`
		Lost bool `json:"lost,omitempty"`
	}
	// Signal sends a signal to a process, or to all of the node for -1.
	Signal struct {
		Proc int `json:"proc"`
		Sig  int `json:"sig"`
	}
	// Hold has the node stand still, its daemon's beats, too, as the launcher will; On false: it
	// goes on.
	Hold struct {
		On bool `json:"on"`
	}
	// KillAll ends all processes of the node.
	KillAll struct{}
	// Say passes a line of package lifeline on to a process.
	Say struct {
		Proc int    `json:"proc"`
		Line []byte `json:"line"`
	}
	// Watch has the deaths of the processes of a slot found from now on.
	Watch struct {
		Slot int `json:"seat"`
	}
	// WatchLife has processes found that show no life for so long.
	WatchLife struct {
		AfterNs int64 `json:"afterNs"`
	}
	// EndFenced ends a process that was declared dead and runs on.
	EndFenced struct {
		Proc int `json:"proc"`
	}
	// Census asks which slots' processes are gone, and who refers to them: Holdings answers.
	Census struct{}
	// Vacate has the node forget a process, so that another can have its slot: Vacated answers.
	Vacate struct {
		Proc int `json:"proc"`
	}
	// Settle ends what processes have left behind.
	Settle struct{}
	// Die has the daemon kill itself, as a planned death of its node.
	Die struct{}
)

// What the daemon tells; each is a method of its host of that name.
type (
	// Found says that a process has ended.
	Found struct {
		Proc int          `json:"proc"`
		By   job.Evidence `json:"by"`
		Left bool         `json:"left,omitempty"`
		AtNs int64        `json:"atNs"`
	}
	// Reaped says how.
	Reaped struct {
		Proc   int        `json:"proc"`
		Status job.Status `json:"status"`
	}
	// Heard says that all that it has said was passed on.
	Heard struct {
		Proc int `json:"proc"`
	}
	// Said passes a line of package lifeline on from a process.
	Said struct {
		Proc int    `json:"proc"`
		Line []byte `json:"line"`
	}
	// NoLife says that a process shows no life.
	NoLife struct {
		Proc int   `json:"proc"`
		AtNs int64 `json:"atNs"`
	}
	// Holdings are the slots whose processes are gone, as the node knows, and its processes that
	// may refer to them.
	Holdings struct {
		All []job.Holding `json:"all"`
	}
	// Vacated says that a process is forgotten, or why not.
	Vacated struct {
		Proc int    `json:"proc"`
		Why  string `json:"why,omitempty"`
	}
	// Note is for people.
	Note struct {
		Event string `json:"event"`
		Text  string `json:"text"`
	}
	// Notice says that the job engine wants this node back, and not the job to end: its processes
	// end by themselves so much later, and none is started there any more.
	Notice struct {
		AfterNs int64 `json:"afterNs"`
	}
	// Unwritten says why output of a process is lost that its node was to write.
	Unwritten struct {
		Why string `json:"why"`
	}
	// Settled says that nothing is left of them, and all that they have printed was passed on.
	Settled struct{}
	// Failed says why the daemon cannot go on.
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

// kinds are how the bodies of messages are read, by what they are.
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

// readHello reads no more of a Hello of another build than which node it is of.
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
