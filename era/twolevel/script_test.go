package twolevel

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/testing/golden"
)

var scripts = flag.String("script", golden.Files, "the scripts to play")

// TestScripts plays testdata/*.txt, or the scripts of -script. Package golden defines their format.
//
//	cluster 2,2 [tree=chain|star|side] [watchdog=10]   nodes of so many members each
//	propose 2|all|1,4 [flag=3] [acked={1}] [call=5] [veto] [entry=text]
//	deliver 3->6      the oldest message of that queue, after the list; lose, hold, release as in era
//	die 1             stops; what it sent stays in flight
//	cut 2 1 COMMAND   the command; 2 dies when it has made so many writes to memory
//	leave 1           goes in an orderly way
//	list 2|all 1      2, or everybody alive, reads in its node's list of 1
//	elsewhere 2 1     2 learns by an agreement of another communicator that 1 is dead
//	look 2|all        the memory may have moved
//	run               everybody looks, and all is delivered, until nothing moves
//	tick 2 10         the clock of 2 shows 10 ms
//	state 2|all       print the state
//	queues            print what is in flight
//	times 5 COMMAND   the command five times
//	check             all that must hold at the end
func TestScripts(t *testing.T) { golden.Play(t, *scripts, begin) }

// begin returns the player of a new script.
func begin(*testing.T) golden.Run {
	s := &script{held: map[[2]int]bool{}}
	return func(c golden.Command, out io.Writer) {
		for _, l := range s.command(c.Words) {
			fmt.Fprintln(out, l)
		}
	}
}

type script struct {
	c    *cluster
	held map[[2]int]bool
}

// command runs one command and returns its effects.
func (s *script) command(words []string) []string {
	if s.c != nil {
		s.c.events = nil
	}
	err := s.run(words[0], words[1:])
	if s.c == nil {
		return []string{fmt.Sprint("no cluster: ", err)}
	}
	if err != nil {
		s.c.log("VIOLATION %v", err)
	}
	return s.c.events
}

func (s *script) run(name string, args []string) error {
	switch name {
	case "cluster":
		return s.newCluster(args)
	case "deliver":
		from, to := parsePair(args[0])
		if !s.c.pending(from, to) {
			return fmt.Errorf("nothing to deliver")
		}
		return s.c.deliver(from, to)
	case "lose":
		from, to := parsePair(args[0])
		s.c.lose(from, to, 0)
	case "hold", "release":
		from, to := parsePair(args[0])
		s.held[[2]int{from, to}] = name == "hold"
	case "die", "leave":
		if name == "leave" {
			s.c.left = with(s.c.left, number(args[0]))
		}
		s.c.die(number(args[0]))
	case "cut":
		died, err := s.c.cut(number(args[0]), number(args[1]), func() error { return s.run(args[2], args[3:]) })
		if !died && err == nil {
			return fmt.Errorf("%s did not come so far", args[0])
		}
		return err
	case "times":
		for range number(args[0]) {
			if err := s.run(args[1], args[2:]); err != nil {
				return err
			}
		}
	case "run":
		return s.c.drain(func(from, to int) bool { return s.held[[2]int{from, to}] })
	case "queues":
		s.queues()
	case "check":
		if err := s.c.checkEnd(); err != nil {
			return err
		}
		s.c.log("ok, %d messages", s.c.sent)
	default:
		return s.each(args[0], func(r int) error { return s.member(r, name, args[1:]) })
	}
	return nil
}

// member runs a command that is about one member.
func (s *script) member(r int, name string, args []string) error {
	switch name {
	case "propose":
		return s.c.propose(r, parseValue(r, args))
	case "list":
		return s.list(r, number(args[0]))
	case "elsewhere":
		return s.c.elsewhere(r, number(args[0]))
	case "look":
		return s.c.step(r, Look{})
	case "tick":
		return s.c.step(r, Tick{Now: mono.Time(mono.Duration(number(args[0])) * mono.Millisecond)})
	case "state":
		s.c.log("%s", s.c.members[r].Describe())
		return nil
	}
	return fmt.Errorf("no command %q", name)
}

// list lets r read its node's list as far as x.
func (s *script) list(r, x int) error {
	s.c.enlist(s.c.of[r], x)
	for !slices.Contains(s.c.list(r)[:s.c.read[r]], x) {
		if err := s.c.readList(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *script) newCluster(args []string) error {
	var sizes []int
	for _, text := range strings.Split(args[0], ",") {
		sizes = append(sizes, number(text))
	}
	var shape func(int) int
	var watchdog mono.Duration
	for _, arg := range args[1:] {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "tree":
			shape = parents[value]
		case "watchdog":
			watchdog = mono.Duration(number(value)) * mono.Millisecond
		default:
			return fmt.Errorf("no option %q", key)
		}
	}
	s.c = newCluster(consecutive(sizes...), shape)
	s.c.verbose = true
	for me := range s.c.n() {
		cfg := s.c.cfg
		cfg.Me, cfg.Memory, cfg.Watchdog = me, s.c.view(me, -1), watchdog
		s.c.members[me] = NewSeries(cfg)
	}
	return nil
}

func (s *script) queues() {
	for from := range s.c.n() {
		for to := range s.c.n() {
			for _, m := range *s.c.queue(from, to) {
				msg, err := era.DecodeMessage(m.Msg, s.c.n())
				s.c.log("%d->%d #%d %v %v", from, to, m.Seq, msg, errText(err))
			}
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// each calls f for a rank, a list of ranks, or everybody alive.
func (s *script) each(who string, f func(r int) error) error {
	var ranks []int
	if who == "all" {
		ranks = slices.DeleteFunc(rankset.Range(0, s.c.n()).Slice(), s.c.dead.Has)
	} else {
		for _, text := range strings.Split(who, ",") {
			ranks = append(ranks, number(text))
		}
	}
	for _, r := range ranks {
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

func parsePair(text string) (from, to int) {
	a, b, _ := strings.Cut(text, "->")
	return number(a), number(b)
}

func parseValue(r int, args []string) era.Value {
	v := era.Value{Flag: 1, Lo: era.Claim{Rank: r}}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "flag":
			v.Flag = uint64(number(value))
		case "acked":
			v.Acked = parseSet(value)
		case "call":
			v.Lo.Call = uint64(number(value))
		case "veto":
			v.Vetoes.Add(r)
		case "entry":
			v.Entries = []era.Entry{{Rank: r, Data: []byte(value)}}
		default:
			panic("no option " + key)
		}
	}
	v.Hi = v.Lo
	return v
}

func parseSet(text string) rankset.Set {
	set, err := rankset.Parse(text)
	if err != nil {
		panic(err)
	}
	return set
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
