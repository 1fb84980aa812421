package era

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/testing/golden"
)

var scripts = flag.String("script", golden.Files, "the scripts to play")

// TestScripts plays testdata/*.txt, or the scripts of -script. Package golden defines their format.
//
//	cluster n=7 [tree=chain|star] [dead={1}] [watchdog=10]
//	propose 2|all|1,4 [flag=3] [acked={1}] [call=5] [veto] [entry=text]
//	deliver 3->6      the oldest message of that queue
//	lose 3->6 [keep]  the sender died before it sent all but the first keep (0) messages
//	hold 3->6         run leaves this queue alone; release 3->6 ends that
//	die 1             stops; what it sent stays in flight
//	notice 2|all 1    2, or everybody alive, learns that 1 is dead
//	left 2|all 1      2, or everybody alive, learns that 1 has left
//	run               deliver until nothing is in flight
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
	case "propose":
		return s.each(args[0], func(r int) error { return s.c.propose(r, parseValue(r, args[1:])) })
	case "deliver":
		from, to := parsePair(args[0])
		if !s.c.pending(from, to) {
			return fmt.Errorf("nothing to deliver")
		}
		return s.c.deliver(from, to)
	case "lose":
		from, to := parsePair(args[0])
		keep := 0
		if len(args) > 1 {
			keep = number(args[1])
		}
		s.c.lose(from, to, keep)
	case "hold", "release":
		from, to := parsePair(args[0])
		s.held[[2]int{from, to}] = name == "hold"
	case "die":
		s.c.die(number(args[0]))
	case "notice":
		return s.each(args[0], func(r int) error { return s.c.notice(r, number(args[1])) })
	case "left":
		s.c.left.Add(number(args[1]))
		return s.each(args[0], func(r int) error { return s.c.step(r, Left{Rank: number(args[1])}) })
	case "times":
		for range number(args[0]) {
			if err := s.run(args[1], args[2:]); err != nil {
				return err
			}
		}
	case "run":
		return s.c.drain(func(from, to int) bool { return s.held[[2]int{from, to}] })
	case "tick":
		now := mono.Time(mono.Duration(number(args[1])) * mono.Millisecond)
		return s.each(args[0], func(r int) error { return s.c.step(r, Tick{Now: now}) })
	case "state":
		return s.each(args[0], func(r int) error { s.c.log("%s", s.c.members[r].Describe()); return nil })
	case "queues":
		s.queues()
	case "check":
		if err := s.c.checkEnd(); err != nil {
			return err
		}
		s.c.log("ok, %d messages", s.c.sent)
	default:
		return fmt.Errorf("no command %q", name)
	}
	return nil
}

func (s *script) newCluster(args []string) error {
	cfg := Config{}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "n":
			cfg.N = number(value)
		case "tree":
			cfg.Parent = map[string]func(int) int{"chain": chain, "star": star}[value]
		case "dead":
			cfg.Dead = parseSet(value)
		case "watchdog":
			cfg.Watchdog = mono.Duration(number(value)) * mono.Millisecond
		default:
			return fmt.Errorf("no option %q", key)
		}
	}
	s.c = newCluster(cfg)
	s.c.verbose = true
	return nil
}

// each calls f for a rank, a list of ranks, or everybody alive.
func (s *script) each(who string, f func(r int) error) error {
	var ranks []int
	if who == "all" {
		for r := range s.c.n() {
			if !s.c.dead.Has(r) {
				ranks = append(ranks, r)
			}
		}
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

func (s *script) queues() {
	for from := range s.c.n() {
		for to := range s.c.n() {
			for _, m := range *s.c.queue(from, to) {
				message, _ := DecodeMessage(m.Msg, s.c.n())
				s.c.log("%d->%d #%d %v", from, to, m.Seq, message)
			}
		}
	}
}

func parseValue(r int, args []string) Value {
	v := Value{Flag: 1, Lo: Claim{Rank: r}}
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
			v.Entries = []Entry{{Rank: r, Data: []byte(value)}}
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

func parsePair(text string) (from, to int) {
	a, b, _ := strings.Cut(text, "->")
	return number(a), number(b)
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
