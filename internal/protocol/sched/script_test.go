package sched

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/golden"
)

// TestScripts plays testdata/*.txt: commands, with their output below. The scripts are examples.
func TestScripts(t *testing.T) {
	golden.Play(t, golden.Files, func(t *testing.T) golden.Run {
		var stage scriptStage
		return func(c golden.Command, out io.Writer) { io.WriteString(out, stage.run(t, c)) }
	})
}

// A scriptStage is one rank's plan and its execution.
type scriptStage struct {
	alg  *Algorithm
	c    Case
	plan Plan
	exec Exec
	out  strings.Builder
}

// Do prints a local step.
func (s *scriptStage) Do(i int) { fmt.Fprintf(&s.out, "do    %d: %v\n", i, &s.plan.Steps[i]) }

func (s *scriptStage) run(t *testing.T, c golden.Command) string {
	t.Helper()
	s.out.Reset()
	word, rest, line := c.Words[0], c.Rest, c.Line
	switch word {
	case "plan": // plan ALGORITHM key=value... [nodes NODE...]
		name, keys, _ := strings.Cut(rest, " ")
		keys, nodes, _ := strings.Cut(keys, " nodes ")
		s.alg, s.c = findAlgorithm(name), Case{Radix: 2, Nodes: scriptNodes(nodes)}
		me := 0
		scriptKeys(t, keys, map[string]*int{"n": &s.c.N, "me": &me, "root": &s.c.Root, "count": &s.c.Count, "segment": &s.c.Segment, "radix": &s.c.Radix})
		m := s.c.memory(s.alg.Verb, me)
		s.alg.Build(&s.plan, &m.shape)
		s.out.WriteString(s.plan.String())
	case "claim":
		messages, depth := s.alg.Claim(&s.c)
		fmt.Fprintf(&s.out, "%d messages, chains of %d\n", messages, depth)
	case "start":
		s.exec = Exec{}
		s.exec.Start(&s.plan, s)
		s.next()
	case "completed":
		i := 0
		fmt.Sscan(rest, &i)
		s.exec.Completed(i)
		s.next()
	case "fail":
		s.exec.Fail(errors.New(rest))
		s.next()
	default:
		t.Fatalf("what is %q?", line)
	}
	return s.out.String()
}

func scriptKeys(t *testing.T, keys string, to map[string]*int) {
	t.Helper()
	for _, kv := range strings.Fields(keys) {
		k, v, _ := strings.Cut(kv, "=")
		if to[k] == nil {
			t.Fatalf("what is %q?", kv)
		}
		fmt.Sscan(v, to[k])
	}
}

func scriptNodes(text string) (nodes []int) {
	for _, word := range strings.Fields(text) {
		node := 0
		fmt.Sscan(word, &node)
		nodes = append(nodes, node)
	}
	return nodes
}

// next prints the messages that start now, and the end of the execution.
func (s *scriptStage) next() {
	for i, ok := s.exec.Next(); ok; i, ok = s.exec.Next() {
		fmt.Fprintf(&s.out, "start %d: %v\n", i, &s.plan.Steps[i])
	}
	if done, err := s.exec.Done(); done {
		fmt.Fprintf(&s.out, "done: %v, %d under way\n", err, s.exec.Outstanding())
	}
}
