package fd

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt: commands, with their output below. The scripts are examples.
func TestScripts(t *testing.T) {
	golden.Play(t, golden.Files, func(t *testing.T) golden.Run {
		var stage scriptStage
		return func(c golden.Command, out io.Writer) { io.WriteString(out, stage.run(t, c)) }
	})
}

// A scriptStage is a few processes. Their messages wait for a command that delivers them. Commands,
// with times in milliseconds:
//
//	ring n=4 [fence] [majority]    start: period 100, timeout 400, confirmation 200; or "exact n=4"
//	ring n=4 absent={2}   the same, without 2; "begin 2" starts 2, "came 1 2" is the event at process 1
//	ring n=4 within=1000  the same, with Config.Adaptive: detection within that time
//	cut {0,1} {2,3}       messages between the sides are lost; of one kind: "cut {0} {1} NEWOBSERVER"
//	tick 2 100            process 2 is told the time
//	run 1000              all live processes tick at their deadlines until then; messages arrive at once
//	deliver 1->2          the oldest message in flight; "drop 1->2" loses one; "deliver-all": all
//	kill 3; pause 3; resume 3   dead; stepped by neither run nor deliver-all, messages wait; back
//	exited 1 5; broken 1 5; left 1 5; watch 1 5; agreed 1 {2,5}    event at process 1
//	deliver-last 1->2     the newest message in flight: it overtakes the others
//	message 1->2 HEARTBEAT    as 1 might have sent; also NEWOBSERVER, PROBE, FENCE, NOTICE {2,5}
//	request 1->2 3 300    NEWOBSERVER of Config.Adaptive: request 3, one heartbeat each 300 ms
//	raw 1->2 ff00         any bytes
//	show 1; show          state
type scriptStage struct {
	all    []*Detector
	queues [][][][]byte // queues[from][to]: messages in flight, first in, first out
	dead   rankset.Set
	paused rankset.Set
	absent rankset.Set    // have not begun
	quiet  bool           // print no message
	cut    [2]rankset.Set // messages from one to the other are lost
	kind   string         // only of this kind; "" = all
	within int            // with Config.Adaptive: T_D in milliseconds; 0 = without
	now    mono.Time
}

func (s *scriptStage) run(t *testing.T, c golden.Command) string {
	t.Helper()
	word, rest, line := c.Words[0], c.Rest, c.Line
	var a, b int
	var text string
	scan := func(format string, args ...any) {
		if _, err := fmt.Sscanf(rest, format, args...); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	switch word {
	case "ring", "exact":
		scan("n=%d", &a)
		s.start(a, word == "ring", rest)
		return ""
	case "tick":
		scan("%d %d", &a, &b)
		return s.step(a, Tick{Now: millis(b)})
	case "run":
		scan("%d", &a)
		return s.runUntil(millis(a))
	case "deliver-last":
		scan("%d->%d", &a, &b)
		last := len(s.queues[a][b]) - 1
		msg := s.queues[a][b][last]
		s.queues[a][b] = s.queues[a][b][:last]
		return s.step(b, Receive{From: a, Msg: msg})
	case "message":
		scan("%d->%d %s", &a, &b, &text)
		return s.step(b, Receive{From: a, Msg: s.message(t, a, text, rest)})
	case "deliver", "drop":
		scan("%d->%d", &a, &b)
		return s.next(a, b, word == "deliver")
	case "deliver-all":
		return s.deliverAll()
	case "kill", "pause", "resume":
		scan("%d", &a)
		s.change(word, a)
		return ""
	case "begin":
		scan("%d", &a)
		return s.begin(a)
	case "exited", "broken", "left", "watch", "came":
		scan("%d %d", &a, &b)
		return s.step(a, map[string]Event{"exited": Exited{b}, "broken": Broken{b}, "left": Left{b}, "watch": Watch{b}, "came": Came{b}}[word])
	case "cut":
		words := append(strings.Fields(rest), "", "")
		s.cut = [2]rankset.Set{parseSet(t, words[0]), parseSet(t, words[1])}
		s.kind = words[2]
		return ""
	case "agreed":
		scan("%d %s", &a, &text)
		return s.step(a, Agreed{Dead: parseSet(t, text)})
	case "request":
		var request, period int
		scan("%d->%d %d %d", &a, &b, &request, &period)
		told := adaptive.Adjust{Epoch: uint16(request), Period: adaptive.Duration(period) * adaptive.Millisecond}
		return s.step(b, Receive{From: a, Msg: tellingMessage(kindNewObserver, s.all[a].Digest(), told)})
	case "raw":
		var msg []byte
		scan("%d->%d %x", &a, &b, &msg)
		return s.step(b, Receive{From: a, Msg: msg})
	case "show":
		return s.show(t, rest)
	}
	t.Fatalf("unknown command %q", line)
	return ""
}

func (s *scriptStage) message(t *testing.T, from int, kind, line string) []byte {
	t.Helper()
	switch kind {
	case "HEARTBEAT":
		return digestMessage(kindHeartbeat, s.all[from].Digest())
	case "NEWOBSERVER":
		return digestMessage(kindNewObserver, s.all[from].Digest())
	case "PROBE":
		return digestMessage(kindProbe, s.all[from].Digest())
	case "FENCE":
		return fenceMessage()
	case "NOTICE":
		return noticeMessage(wire.AppendSet(nil, parseSet(t, line[strings.LastIndex(line, " ")+1:])))
	}
	t.Fatalf("unknown message %q", kind)
	return nil
}

func parseSet(t *testing.T, text string) rankset.Set {
	t.Helper()
	set, err := rankset.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func millis(ms int) mono.Time { return mono.Time(ms) * mono.Time(mono.Millisecond) }

func (s *scriptStage) start(n int, ring bool, options string) {
	*s = scriptStage{queues: make([][][][]byte, n)}
	if _, absent, some := strings.Cut(options, "absent="); some {
		s.absent, _ = rankset.Parse(absent)
		s.paused = s.absent.Clone()
	}
	if _, within, asked := strings.Cut(options, "within="); asked {
		fmt.Sscan(within, &s.within)
	}
	for me := range n {
		cfg := Config{N: n, Me: me, Fence: strings.Contains(options, "fence")}
		if s.within > 0 {
			cfg.Adaptive = &adaptive.QoS{Detection: adaptive.Duration(s.within) * adaptive.Millisecond}
		}
		if strings.Contains(options, "majority") {
			cfg.Partition = Majority
		}
		if ring {
			cfg.Mode = Ring
		}
		s.all = append(s.all, New(cfg))
		s.queues[me] = make([][][]byte, n)
		if !s.absent.IsEmpty() && !s.absent.Has(me) {
			s.step(me, Absent{Ranks: s.absent.Clone()})
		}
	}
	for from := range s.queues {
		clear(s.queues[from])
	}
}

// begin has a process begin that was absent.
func (s *scriptStage) begin(me int) string {
	cfg := s.all[me].cfg
	cfg.Start = s.now
	s.all[me] = New(cfg)
	s.paused.Remove(me)
	s.absent.Remove(me)
	return s.step(me, Absent{Ranks: s.absent.Clone()})
}

func (s *scriptStage) change(word string, rank int) {
	switch word {
	case "kill":
		s.dead.Add(rank)
	case "pause":
		s.paused.Add(rank)
	case "resume":
		s.paused.Remove(rank)
	}
}

func (s *scriptStage) active(rank int) bool { return !s.dead.Has(rank) && !s.paused.Has(rank) }

func (s *scriptStage) step(me int, ev Event) string {
	var out strings.Builder
	for _, a := range s.all[me].Step(ev) {
		if send, ok := a.(Send); ok {
			if s.isCut(me, send.To) && strings.HasPrefix(describeMessage(send.Msg, len(s.all)), s.kind) {
				continue
			}
			s.queues[me][send.To] = append(s.queues[me][send.To], send.Msg)
			if s.quiet {
				continue
			}
		}
		fmt.Fprintf(&out, "%d: %s\n", me, describe(a, len(s.all)))
	}
	if out.Len() == 0 && !s.quiet {
		return fmt.Sprintf("%d: nothing\n", me)
	}
	return out.String()
}

func (s *scriptStage) isCut(p, q int) bool {
	return s.cut[0].Has(p) && s.cut[1].Has(q) || s.cut[1].Has(p) && s.cut[0].Has(q)
}

func (s *scriptStage) next(from, to int, deliver bool) string {
	queue := &s.queues[from][to]
	if len(*queue) == 0 {
		return fmt.Sprintf("%d->%d: no message\n", from, to)
	}
	msg := (*queue)[0]
	*queue = (*queue)[1:]
	if !deliver {
		return fmt.Sprintf("%d->%d: lost: %s\n", from, to, describeMessage(msg, len(s.all)))
	}
	return s.step(to, Receive{From: from, Msg: msg})
}

func (s *scriptStage) deliverAll() string {
	var out strings.Builder
	for again := true; again; {
		again = false
		for from := range s.queues {
			for to := range s.queues[from] {
				if len(s.queues[from][to]) > 0 && s.active(to) {
					out.WriteString(s.next(from, to, true))
					again = true
				}
			}
		}
	}
	return out.String()
}

// runUntil prints declarations, suspicions, fences and anomalies with their times.
func (s *scriptStage) runUntil(end mono.Time) string {
	var out strings.Builder
	s.quiet = true
	defer func() { s.quiet = false }()
	print := func(now mono.Time, text string) {
		for line := range strings.Lines(text) {
			fmt.Fprintf(&out, "%v %s", mono.Duration(now), line)
		}
	}
	for {
		who, now := -1, end
		for me, d := range s.all {
			if at, ok := d.Deadline(); ok && s.active(me) && at <= end && (who < 0 || at < now) {
				who, now = me, at
			}
		}
		if who < 0 {
			s.now = max(s.now, end)
			return out.String()
		}
		now = max(now, s.now) // a stopped process is late
		s.now = now
		print(now, s.step(who, Tick{Now: now}))
		print(now, s.deliverAll())
		for s.within > 0 && s.tickHeard(print) {
			print(now, s.deliverAll())
		}
	}
}

// tickHeard gives the time to all processes with messages of their emitters, and reports whether
// there were any.
func (s *scriptStage) tickHeard(print func(now mono.Time, text string)) (any bool) {
	for me, d := range s.all {
		if s.active(me) && len(d.observation.heard) > 0 {
			print(s.now, s.step(me, Tick{Now: s.now}))
			any = true
		}
	}
	return any
}

func (s *scriptStage) show(t *testing.T, rest string) string {
	if rest != "" {
		rank, err := strconv.Atoi(rest)
		if err != nil {
			t.Fatal(err)
		}
		d := s.all[rank]
		at, ok := d.Deadline()
		if !ok {
			return d.Describe() + "; no deadline\n"
		}
		return fmt.Sprintf("%s; deadline %v\n", d.Describe(), mono.Duration(at))
	}
	var out strings.Builder
	for rank, d := range s.all {
		if !s.dead.Has(rank) {
			out.WriteString(d.Describe() + "\n")
		}
	}
	return out.String()
}

func describe(a Action, n int) string {
	switch a := a.(type) {
	case Send:
		return fmt.Sprintf("send %s to %d", describeMessage(a.Msg, n), a.To)
	case Declare:
		return fmt.Sprintf("declare %d dead by %v", a.Rank, a.Evidence)
	case Suspect:
		if a.Unanswered {
			return fmt.Sprintf("suspect %d, silent for %v, second check unanswered", a.Rank, a.Silent)
		}
		return fmt.Sprintf("suspect %d, silent for %v", a.Rank, a.Silent)
	case Fenced:
		if a.Minority {
			return "stops in the minority"
		}
		return fmt.Sprintf("fenced by %d", a.By)
	case Anomaly:
		return fmt.Sprintf("anomaly from %d: %s", a.From, a.Text)
	}
	return fmt.Sprintf("unknown action %T", a)
}

func describeTold(told adaptive.Message) string {
	switch told := told.(type) {
	case adaptive.Beat:
		return fmt.Sprintf(" %d of %v, the next after %v (request %d)", told.Seq, adaptive.Duration(told.Nominal), told.Period, told.Epoch)
	case adaptive.Echo:
		return fmt.Sprintf(" that answers what was asked at %v", adaptive.Duration(told.Clock))
	case adaptive.Adjust:
		return fmt.Sprintf(", request %d: one each %v", told.Epoch, told.Period)
	}
	return ""
}

// describeMessage prints a message among n processes.
func describeMessage(msg []byte, n int) string {
	m, err := parseMessage(msg)
	if err != nil {
		return err.Error()
	}
	switch m.kind {
	case kindHeartbeat:
		return "HEARTBEAT" + describeTold(m.told)
	case kindNewObserver:
		return "NEWOBSERVER" + describeTold(m.told)
	case kindProbe:
		return "PROBE"
	case kindNotice:
		dead, left := (&Detector{cfg: Config{N: n}}).split(wire.NewReader(m.flooded).Set(2 * n))
		if left.IsEmpty() {
			return fmt.Sprintf("NOTICE %v", dead)
		}
		return fmt.Sprintf("NOTICE %v, left %v", dead, left)
	}
	return "FENCE"
}
