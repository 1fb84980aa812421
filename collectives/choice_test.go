package collectives

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
)

// TestShippedTable has a way for every question, in memory where possible, and none that cannot
// perform the request.
func TestShippedTable(t *testing.T) {
	s := new(settings)
	for verb := range verbs {
		for _, q := range questions(verb) {
			w := s.pick(&q)
			if w == nil || !w.can(&q) {
				t.Errorf("%+v goes %+v", q, w)
			}
			pair := q.ranks <= 2 && (verb == sched.Bcast || verb == sched.Scatter || verb == sched.Gather)
			if memory := q.memory && slices.Contains(memoryVerbs, nameOf(verb)) && !pair; memory && q.layout == sched.Uniform && q.payload() <= nodecoll.PayloadBytes && w.algorithm != nil {
				t.Errorf("%+v goes by messages: %s", q, w.algorithm.Name)
			}
		}
	}
}

func questions(verb sched.Verb) (qs []question) {
	for _, ranks := range []int{1, 2, 3, 8, 17, 64, 1025} {
		for _, bytes := range []int{0, 1, 4096, 1 << 20, unknownBytes} {
			for bits := range 16 {
				q := question{verb: verb, ranks: ranks, bytes: bytes, memory: bits&1 != 0, commutative: bits&2 != 0, direct: bits&4 != 0, nodes: bits&9 == 8, perNode: ranks}
				if slices.Contains([]sched.Verb{sched.Gather, sched.Scatter, sched.Allgather, sched.Alltoall, sched.NeighborAllgather, sched.NeighborAlltoall}, verb) {
					q.layout = sched.Layout(bits % 3)
				}
				if verb == sched.ReduceScatter {
					q.layout = sched.Layout(bits % 2)
				}
				qs = append(qs, q)
			}
		}
	}
	return qs
}

// TestReproducibleWays: the order of reduction is that of one algorithm, with every other choice.
func TestReproducibleWays(t *testing.T) {
	chosen := chosenBy(t, "allreduce=ring,reduce=binomial,allgather=bruck")
	for verb := range verbs {
		names := map[string]bool{}
		for _, q := range questions(verb) {
			if a := chosen.with(verb, Reproducible()).pick(&q).algorithm; a != nil {
				names[a.Name] = true
			} else if verb.Reduces() {
				t.Errorf("%+v goes through memory", q)
			}
		}
		if verb.Reduces() && len(names) != 1 {
			t.Errorf("%s has %v", nameOf(verb), names)
		}
		if verb == sched.Allgather && !names["allgather/bruck"] {
			t.Errorf("allgather goes %v", names)
		}
	}
}

// chosenBy are the settings of a process with GOULFM_COLL.
func chosenBy(t *testing.T, spec string) *settings {
	t.Helper()
	chosen, err := readSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &settings{tables: []*table{chosen}}
}

// TestAlgorithmOverridesTheProcess: the requested way is used where possible, and the option comes
// before the choice of the process.
func TestAlgorithmOverridesTheProcess(t *testing.T) {
	process := chosenBy(t, " allgather=neighbor-exchange, bcast=binomial:65536,allreduce=memory")
	for _, c := range []struct {
		q       question
		want    string
		segment int
	}{
		{question{verb: sched.Allgather, ranks: 8}, "allgather/neighbor-exchange", 0},
		{question{verb: sched.Allgather, ranks: 7}, "allgather/bruck", 0}, // neighbor-exchange needs an even number
		{question{verb: sched.Bcast, ranks: 7, memory: true}, "bcast/binomial", 65536},
		{question{verb: sched.Allreduce, ranks: 7, memory: true}, "", 0},
		{question{verb: sched.Allreduce, ranks: 7}, "allreduce/recursive-doubling", 0},
		{question{verb: sched.Alltoall, ranks: 4}, "alltoall/linear", 0},
	} {
		w, name := process.pick(&c.q), ""
		if w.algorithm != nil {
			name = w.algorithm.Name
		}
		if name != c.want || w.Segment != c.segment {
			t.Errorf("%+v goes %s in segments of %d", c.q, name, w.Segment)
		}
	}
	ring := process.with(sched.Allgather, Algorithm("ring"))
	if w := ring.pick(&question{verb: sched.Allgather, ranks: 8}); w.algorithm.Name != "allgather/ring" {
		t.Errorf("the option gives %s", w.algorithm.Name)
	}
	doubling := process.with(sched.Allgather, Algorithm("recursive-halving"))
	if doubling.err == nil || process.err != nil {
		t.Errorf("an algorithm of another verb: %v, and %v for the process", doubling.err, process.err)
	}
	binary := process.with(sched.Allreduce, Algorithm("ring:100"))
	if w := binary.pick(&question{verb: sched.Allreduce, ranks: 8, commutative: true, memory: true}); w.algorithm == nil || w.algorithm.Name != "allreduce/ring" || w.Segment != 100 {
		t.Errorf("the option gives %+v", w)
	}
	if w := binary.pick(&question{verb: sched.Allreduce, ranks: 8, memory: true}); w.algorithm != nil {
		t.Errorf("an operation that does not commute goes %s, want the choice of the process", w.algorithm.Name)
	}
}

// TestOptionsAreMerged: the last algorithm counts, and no option undoes another one.
func TestOptionsAreMerged(t *testing.T) {
	for _, c := range []struct {
		opts []Option
		want Option
	}{
		{nil, Option{}},
		{[]Option{{}, {}}, Option{}},
		{[]Option{Algorithm("ring"), Algorithm("bruck")}, Option{algorithm: "bruck"}},
		{[]Option{Algorithm("ring"), Algorithm("")}, Option{algorithm: "ring"}},
		{[]Option{Reproducible(), Algorithm("ring"), {}}, Option{algorithm: "ring", reproducible: true}},
	} {
		if got := merged(c.opts); got != c.want {
			t.Errorf("%+v are %+v, want %+v", c.opts, got, c.want)
		}
	}
}

// TestSettingsOfOptionsAreKept for the next call, unless they are wrong or too many.
func TestSettingsOfOptionsAreKept(t *testing.T) {
	s := new(settings)
	ring := s.with(sched.Allgather, Algorithm("ring"))
	if s.with(sched.Allgather, Algorithm("ring")) != ring || s.with(sched.Allreduce, Algorithm("ring")) == ring {
		t.Error("the settings are made for each call, or shared by verbs")
	}
	if wrong := s.with(sched.Allgather, Algorithm("rnig")); wrong.err == nil || wrong == s.with(sched.Allgather, Algorithm("rnig")) {
		t.Error("wrong settings are kept")
	}
	for i := range 2 * variantsMax {
		s.with(sched.Bcast, Algorithm(fmt.Sprintf("binomial:%d", i+1)))
	}
	if n := len(*s.variants.known.Load()); n != variantsMax {
		t.Errorf("%d settings are kept, want %d", n, variantsMax)
	}
	if s.with(sched.Allgather, Algorithm("ring")) != ring {
		t.Error("settings are lost")
	}
}

// TestWrongChoices: the errors name the fault, the reason, and the remedy.
func TestWrongChoices(t *testing.T) {
	for spec, say := range map[string]string{
		"allgather=rnig":            "one of memory, linear, ring, recursive-doubling, bruck",
		"allgathr=ring":             "one of barrier, bcast, reduce",
		"allgather":                 "want verb=algorithm",
		"bcast=binomial:x":          "want a number of bytes",
		"bcast=binomial:-1":         "want a number of bytes",
		"neighbor-allgather=memory": "no algorithm \"memory\"",
		"allgather=ring:65536":      "leave the segment out",
	} {
		if _, err := readSpec(spec); !errors.Is(err, comm.ErrUnsupported) || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want %q", spec, err, say)
		}
	}
	for text, say := range map[string]string{
		`{"rules": [{"verb": "bcast", "algorithm": "binomial"}, {"verb": "bcast", "algorithm": "x"}]}`: "rule 2",
		`{"rules": [{"verb": "gather", "bytes": 9, "algorithm": "binomial"}]}`:                         "bound ranks alone",
		`{"rules": [{"verb": "bcast", "ranks": -1, "algorithm": "binomial"}]}`:                         "bounds are 0",
		`{"rules": [{"verb": "bcast", "radix": 1, "algorithm": "knomial"}]}`:                           "want 2 or more",
		`{"rules": [{"verb": "bcast", "rank": 1, "algorithm": "binomial"}]}`:                           "unknown field",
		`nonsense`: "not a table",
	} {
		if _, err := readTable([]byte(text)); !errors.Is(err, comm.ErrUnsupported) || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want %q", text, err, say)
		}
	}
}

// TestSeveralNodes: the shipped table selects the two-level algorithms only for several nodes, if
// they can perform the request and the vector is not long; other rules may require few ranks on
// each node.
func TestSeveralNodes(t *testing.T) {
	const two = "two-level"
	file, err := readTable([]byte(`{"rules": [{"verb": "bcast", "per_node": 2, "nodes": true, "algorithm": "chain"}, {"verb": "bcast", "nodes": false, "algorithm": "bine"},
		{"verb": "barrier", "nodes": true, "algorithm": "memory"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	few := &settings{tables: []*table{file}}
	if w := few.pick(&question{verb: sched.Barrier, ranks: 8, perNode: 8, memory: true}); w == &file[sched.Barrier][0] {
		t.Error("a rule for several nodes is taken on one")
	}
	for _, c := range []struct {
		s    *settings
		q    question
		want string
	}{
		{new(settings), question{verb: sched.Barrier, ranks: 8, perNode: 4, nodes: true}, two},
		{new(settings), question{verb: sched.Barrier, ranks: 8, perNode: 8}, "dissemination"},
		{new(settings), question{verb: sched.Bcast, ranks: 8, perNode: 4, nodes: true, bytes: 65536}, two},
		{new(settings), question{verb: sched.Bcast, ranks: 8, perNode: 4, nodes: true, bytes: 65537}, "binomial"},
		{new(settings), question{verb: sched.Allreduce, ranks: 8, perNode: 4, nodes: true, commutative: true}, two},
		{new(settings), question{verb: sched.Allreduce, ranks: 8, perNode: 4, nodes: true}, "recursive-doubling"},
		{new(settings), question{verb: sched.ReduceTo, ranks: 8, perNode: 4, nodes: true, commutative: true, bytes: 1 << 20}, two},
		{new(settings), question{verb: sched.ReduceTo, ranks: 8, perNode: 4, nodes: true}, "in-order"},
		{new(settings), question{verb: sched.Gather, ranks: 8, perNode: 4, nodes: true}, two},
		{new(settings), question{verb: sched.Gather, ranks: 8, perNode: 4, nodes: true, layout: sched.Scattered}, "linear"},
		{new(settings), question{verb: sched.Scatter, ranks: 8, perNode: 4, nodes: true}, two},
		{new(settings), question{verb: sched.Allgather, ranks: 8, perNode: 4, nodes: true}, two},
		{new(settings), question{verb: sched.Allgather, ranks: 8, perNode: 4, nodes: true, bytes: unknownBytes}, "linear"},
		{few, question{verb: sched.Bcast, ranks: 8, perNode: 2, nodes: true}, "chain"},
		{few, question{verb: sched.Bcast, ranks: 8, perNode: 3, nodes: true}, two},
		{few, question{verb: sched.Bcast, ranks: 2, perNode: 2}, "bine"},
	} {
		if w := c.s.pick(&c.q); w.algorithm == nil || w.Algorithm != c.want {
			t.Errorf("%+v goes %+v, want %s", c.q, w, c.want)
		}
	}
}

// TestEnvironment: the choice overrides the file, and the file overrides the shipped table.
func TestEnvironment(t *testing.T) {
	file := `{"rules": [{"verb": "bcast", "algorithm": "chain", "segment": 100}, {"verb": "scan", "algorithm": "linear"}]}`
	read := func(string) ([]byte, error) { return []byte(file), nil }
	env := map[string]string{choiceVariable: "scan=recursive-doubling", tableVariable: "x.json", reproducibleVariable: "0"}
	get := func(name string) string { return env[name] }
	s := readEnvironment(get, read)
	for verb, want := range map[sched.Verb]string{sched.Scan: "scan/recursive-doubling", sched.Bcast: "bcast/chain", sched.Gather: "gather/linear"} {
		if w := s.pick(&question{verb: verb, ranks: 4}); w.algorithm == nil || w.algorithm.Name != want {
			t.Errorf("%s goes %+v", want, w)
		}
	}
	if s.err != nil || s.reproducible {
		t.Errorf("%v, reproducible %v", s.err, s.reproducible)
	}
	for name, wrong := range map[string]string{choiceVariable: "x=y", reproducibleVariable: "yes"} {
		old := env[name]
		env[name] = wrong
		if s := readEnvironment(get, read); s.err == nil || !strings.Contains(s.err.Error(), name) {
			t.Errorf("%s=%s: %v", name, wrong, s.err)
		}
		env[name] = old
	}
	env[reproducibleVariable], env[choiceVariable] = "1", ""
	missing := errors.New("no such file")
	if s := readEnvironment(get, func(string) ([]byte, error) { return nil, missing }); !errors.Is(s.err, missing) || !s.reproducible || !strings.Contains(s.err.Error(), "x.json") {
		t.Errorf("a missing file: %v", s.err)
	}
}

// TestAnswersAreKept: whether a call uses memory does not depend on earlier questions.
func TestAnswersAreKept(t *testing.T) {
	file, err := readTable([]byte(`{"rules": [{"verb": "bcast", "bytes": 100, "ranks": 4, "algorithm": "chain"}, {"verb": "bcast", "crowded": true, "direct": false, "algorithm": "memory"},
		{"verb": "bcast", "algorithm": "bine"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	kept := &settings{tables: []*table{file}}
	yes := 0
	for i := range 1000 {
		q := question{verb: sched.Bcast, ranks: 2 + i%5, bytes: []int{0, 100, 101, 1<<44 + 100, unknownBytes}[i/2%5], crowded: i%3 == 0, direct: i%7 < 3, memory: true}
		for range 2 {
			want := kept.pick(&q).algorithm == nil
			if got := kept.goesThroughMemory(q.verb, q.bytes, q.ranks, q.crowded, q.direct); got != want {
				t.Fatalf("%+v: memory %v, want %v", q, got, want)
			}
			if want {
				yes++
			}
		}
	}
	if yes == 0 || yes == 2000 {
		t.Errorf("%d of 2000 go through memory", yes)
	}
}
