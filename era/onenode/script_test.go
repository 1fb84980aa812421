package onenode

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/testing/golden"
)

var scripts = flag.String("script", golden.Files, "the scripts to play")

// TestScripts plays testdata/*.txt, or the scripts of -script. Package golden defines their format.
//
//	cluster n=3 [window=2] [dead={1}]
//	propose 2|all|1,4 [flag=3] [acked={1}] [call=5] [veto] [entry=text]
//	plain 2|all|1,4 [flag=3] [call=5]    enter plainly
//	poll 2|all        look how the plain agreement goes on
//	adopt 2|all       hand it over
//	look 2|all        the memory may have moved
//	start 2 COMMAND   the first access of what that command does to 2
//	go 2 3            three more accesses; finish 2: all that are left
//	die 1             stops, in the middle of what it does; leave 1: after it left
//	notice 2|all 1    2, or everybody alive, learns that 1 is dead
//	left 2|all 1      2, or everybody alive, learns that 1 has left
//	run               everybody looks until nobody decides any more
//	state 2|all       print the state
//	times 5 COMMAND   the command five times
//	check             all that must hold at the end
func TestScripts(t *testing.T) { golden.Play(t, *scripts, begin) }

// begin returns the player of a new script.
func begin(*testing.T) golden.Run {
	s := &script{}
	return func(c golden.Command, out io.Writer) {
		for _, l := range s.command(c.Words) {
			fmt.Fprintln(out, l)
		}
	}
}

type script struct {
	w *world
}

// command runs one command and returns its effects.
func (s *script) command(words []string) []string {
	if s.w != nil {
		s.w.events = nil
	}
	err := s.run(words[0], words[1:])
	if s.w == nil {
		return []string{fmt.Sprint("no cluster: ", err)}
	}
	if err != nil {
		s.w.log("VIOLATION %v", err)
	}
	return s.w.events
}

func (s *script) run(name string, args []string) error {
	switch name {
	case "cluster":
		return s.newWorld(args)
	case "start":
		call, err := s.call(number(args[0]), args[1], args[2:])
		if err != nil {
			return err
		}
		return s.w.start(number(args[0]), args[1], call)
	case "go":
		return s.w.advance(number(args[0]), number(args[1]))
	case "finish":
		return s.w.finish(number(args[0]))
	case "die", "leave":
		if name == "leave" {
			s.w.left = with(s.w.left, number(args[0]))
		}
		s.w.stop(number(args[0]))
	case "times":
		for range number(args[0]) {
			if err := s.run(args[1], args[2:]); err != nil {
				return err
			}
		}
	case "run":
		return s.w.settle()
	case "check":
		if err := s.w.checkEnd(); err != nil {
			return err
		}
		s.w.log("ok")
	default:
		return s.each(args[0], func(r int) error {
			call, err := s.call(r, name, args[1:])
			if err != nil || call == nil {
				return err
			}
			return s.w.do(r, name, call)
		})
	}
	return nil
}

// call returns the action of a command on member r; nil if nothing is left to do.
func (s *script) call(r int, name string, args []string) (func(*Series) []Action, error) {
	w := s.w
	switch name {
	case "propose":
		v := parseValue(r, args)
		w.propose(r, v)
		return stepping(Propose{Value: v}), nil
	case "plain":
		v := parseValue(r, args)
		w.propose(r, v)
		return func(s *Series) []Action { s.EnterPlain(v.Lo.Call, v.Flag); return nil }, nil
	case "poll":
		return func(s *Series) []Action {
			acts, state := poll(s)
			w.log("%d polls: %v", r, state)
			return acts
		}, nil
	case "adopt":
		return adopt, nil
	case "look":
		return stepping(Look{}), nil
	case "notice":
		w.told[r] = with(w.told[r], number(args[0]))
		return stepping(Failed{Rank: number(args[0])}), nil
	case "left":
		w.toldLeft[r] = with(w.toldLeft[r], number(args[0]))
		return stepping(Left{Rank: number(args[0])}), nil
	case "state":
		w.log("%s", w.members[r].Describe())
		return nil, nil
	}
	return nil, fmt.Errorf("no command %q", name)
}

func (s *script) newWorld(args []string) error {
	cfg := Config{Tag: 5}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "n":
			cfg.N = number(value)
		case "window":
			cfg.Window = number(value)
		case "dead":
			cfg.Dead = parseSet(value)
		default:
			return fmt.Errorf("no option %q", key)
		}
	}
	s.w = newWorld(cfg, LongMax(cfg.N), ValueMax(cfg.N))
	s.w.verbose = true
	for r := range cfg.N {
		s.w.told[r] = cfg.Dead.Clone()
	}
	s.w.dead = cfg.Dead.Clone()
	return nil
}

// each calls f for a rank, a list of ranks, or everybody alive.
func (s *script) each(who string, f func(r int) error) error {
	var ranks []int
	if who == "all" {
		ranks = slices.DeleteFunc(rankset.Range(0, s.w.n()).Slice(), s.w.dead.Has)
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
