package log2phases

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt. Package golden defines their format.
//
//	cluster 8               eight members
//	propose 2|all [flag=3] [acked]  contributes, with all known deaths acknowledged
//	deliver 3->1            the oldest message of that queue
//	lose 0->1               the sender died before it sent the messages of that queue
//	hold 3->1               run leaves this queue alone; release 3->1 ends that
//	die 1                   stops; its messages stay in flight
//	notice 2|all 1          2, or each living member, learns that 1 is dead
//	run                     deliver until nothing is in flight
//	state 2|all             print the state
//	check COUNT             all conditions of the end, after COUNT agreements
func TestScripts(t *testing.T) {
	golden.Play(t, golden.Files, func(*testing.T) golden.Run {
		s := &script{held: map[[2]int]bool{}}
		return func(c golden.Command, out io.Writer) {
			if err := s.run(c.Words[0], c.Words[1:]); err != nil {
				s.c.log("VIOLATION %v", err)
			}
			for _, line := range s.c.events {
				fmt.Fprintln(out, line)
			}
			s.c.events = nil
		}
	})
}

type script struct {
	c    *cluster
	held map[[2]int]bool
}

func (s *script) run(name string, args []string) error {
	switch name {
	case "cluster":
		s.c = newCluster(number(args[0]))
		s.c.verbose = true
	case "propose":
		flag, acked := uint64(1), false
		for _, arg := range args[1:] {
			if arg == "acked" {
				acked = true
			} else {
				flag = uint64(number(strings.TrimPrefix(arg, "flag=")))
			}
		}
		return s.each(args[0], func(r int) error { return s.c.propose(r, flag, acked) })
	case "deliver":
		return s.c.deliver(pair(args[0]))
	case "lose":
		from, to := pair(args[0])
		*s.c.queue(from, to) = nil
	case "hold", "release":
		from, to := pair(args[0])
		s.held[[2]int{from, to}] = name == "hold"
	case "die":
		s.c.die(number(args[0]), nil)
	case "notice":
		return s.each(args[0], func(r int) error { return s.c.notice(r, number(args[1])) })
	case "run":
		return s.c.drain(func(from, to int) bool { return s.held[[2]int{from, to}] })
	case "state":
		return s.each(args[0], func(r int) error { s.c.log("%s", s.c.members[r].Describe()); return nil })
	case "check":
		err := s.c.checkEnd(number(args[0]))
		if err == nil {
			s.c.log("ok, %d messages", s.c.sent)
		}
		return err
	default:
		return fmt.Errorf("no command %q", name)
	}
	return nil
}

// each calls f for one rank, or for each living member.
func (s *script) each(ranks string, f func(r int) error) error {
	if ranks != "all" {
		return f(number(ranks))
	}
	for r := range s.c.n() {
		if !s.c.dead.Has(r) {
			if err := f(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func pair(text string) (from, to int) {
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
