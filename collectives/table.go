package collectives

import (
	"bytes"
	_ "embed" // the table
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// A rule is a line of the table that selects the algorithm of a collective. Bounds are upper
// bounds, and 0 means no bound. All members must select the same rule, so a rule depends only on
// facts that all members know.
type rule struct {
	Verb      string `json:"verb"`
	Ranks     int    `json:"ranks,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`    // of the vector, or of one rank's block
	PerNode   int    `json:"per_node,omitempty"` // ranks on the node with most of them
	Nodes     *bool  `json:"nodes,omitempty"`    // whether ranks are on several nodes
	Crowded   *bool  `json:"crowded,omitempty"`  // whether ranks outnumber cores
	Direct    *bool  `json:"direct,omitempty"`   // whether long messages are copied from memory to memory
	Algorithm string `json:"algorithm"`          // or "memory"
	Segment   int    `json:"segment,omitempty"`  // bytes
	Radix     int    `json:"radix,omitempty"`
}

// inMemoryName is the algorithm of shared memory, an entry of the table like others.
const inMemoryName = "memory"

// A way is one choice for a collective: a rule that has been read.
type way struct {
	rule

	algorithm *sched.Algorithm // nil: in memory
	number    int              // distinguishes the ways of a verb
}

const verbs = sched.NeighborAlltoall + 1

// A table has the ways of each verb; the first that fits is taken.
type table [verbs][]way

//go:embed table.json
var builtIn []byte

var (
	algorithms = sched.Algorithms()
	// shipped ends with a way for everything, which other tables may lack.
	shipped = mustRead(builtIn)
)

func mustRead(text []byte) *table {
	t, err := readTable(text)
	if err != nil {
		panic(err) // the table is part of the program, and a test reads it
	}
	return t
}

// verbNames are the verbs as tables and algorithms call them.
func verbNames() (names []string) {
	for _, a := range algorithms {
		verb, _, _ := strings.Cut(a.Name, "/")
		if !slices.Contains(names, verb) {
			names = append(names, verb)
		}
	}
	return names
}

// readTable reads a table, and returns an error that names the wrong rule.
func readTable(text []byte) (*table, error) {
	var file struct {
		About string `json:"about"`
		Rules []rule `json:"rules"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("%w: not a table of collectives: %w; see collectives/table.json", comm.ErrUnsupported, err)
	}
	t := new(table)
	for i, r := range file.Rules {
		w, verb, err := r.way()
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		t[verb] = append(t[verb], w)
	}
	return t, nil
}

// memoryVerbs can use shared memory.
var memoryVerbs = []string{"barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "reduce-scatter", "scan", "exscan"}

func (r rule) way() (way, sched.Verb, error) {
	first := slices.IndexFunc(algorithms, func(a sched.Algorithm) bool { return strings.HasPrefix(a.Name, r.Verb+"/") })
	if first < 0 {
		return way{}, 0, fmt.Errorf("%w: no verb %q: one of %s", comm.ErrUnsupported, r.Verb, strings.Join(verbNames(), ", "))
	}
	verb := algorithms[first].Verb
	w := way{rule: r}
	if r.Algorithm != inMemoryName || !slices.Contains(memoryVerbs, r.Verb) {
		i := slices.IndexFunc(algorithms, func(a sched.Algorithm) bool { return a.Name == r.Verb+"/"+r.Algorithm })
		if i < 0 {
			return w, verb, fmt.Errorf("%w: no algorithm %q of %s: one of %s", comm.ErrUnsupported, r.Algorithm, r.Verb, strings.Join(namesOf(r.Verb), ", "))
		}
		w.algorithm, w.number = &algorithms[i], i-first|bits.Len(uint(max(r.Segment, 0)))&3<<3
	}
	return w, verb, w.check(verb)
}

// check refuses impossible rules.
func (w *way) check(verb sched.Verb) error {
	switch {
	case w.Ranks < 0 || w.Bytes < 0 || w.PerNode < 0 || w.Segment < 0 || w.Radix < 0:
		return fmt.Errorf("%w: a negative bound of %s: bounds are 0 (none) or more", comm.ErrUnsupported, w.Verb)
	case w.Segment > 0 && (w.algorithm == nil || !w.algorithm.Segmented):
		return fmt.Errorf("%w: %s of %s cuts nothing into segments: leave the segment out", comm.ErrUnsupported, w.Algorithm, w.Verb)
	case w.Radix == 1:
		return fmt.Errorf("%w: a tree of radix 1: want 2 or more, or 0", comm.ErrUnsupported)
	case w.Bytes > 0 && w.algorithm != nil && slices.Contains([]sched.Verb{sched.ReduceTo, sched.Gather, sched.Scatter}, verb):
		return fmt.Errorf("%w: %s chosen by bytes: members with wrong lengths would wait for each other; bound ranks alone", comm.ErrUnsupported, w.Verb)
	}
	return nil
}

func namesOf(verb string) (names []string) {
	if slices.Contains(memoryVerbs, verb) {
		names = append(names, inMemoryName)
	}
	for _, a := range algorithms {
		if v, name, _ := strings.Cut(a.Name, "/"); v == verb {
			names = append(names, name)
		}
	}
	return names
}

// readSpec reads a choice as in "allgather=ring,bcast=binomial:65536".
func readSpec(spec string) (*table, error) {
	t := new(table)
	for part := range strings.SplitSeq(spec, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		verb, choice, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return nil, fmt.Errorf("%w: %q: want verb=algorithm or verb=algorithm:segment", comm.ErrUnsupported, part)
		}
		if err := t.add(verb, choice); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// readAlgorithm reads a choice for one verb, as in "binomial:65536".
func readAlgorithm(verb sched.Verb, choice string) (*table, error) {
	t := new(table)
	return t, t.add(nameOf(verb), choice)
}

// add appends the way that a choice names.
func (t *table) add(verb, choice string) error {
	name, segment, cut := strings.Cut(choice, ":")
	r := rule{Verb: verb, Algorithm: name}
	if cut {
		n, err := strconv.Atoi(segment)
		if err != nil || n <= 0 {
			return fmt.Errorf("%w: segment %q of %s=%s: want a number of bytes above 0", comm.ErrUnsupported, segment, verb, choice)
		}
		r.Segment = n
	}
	w, v, err := r.way()
	if err == nil {
		t[v] = append(t[v], w)
	}
	return err
}

// nameOf is the name of a verb in tables.
func nameOf(verb sched.Verb) string {
	i := slices.IndexFunc(algorithms, func(a sched.Algorithm) bool { return a.Verb == verb })
	name, _, _ := strings.Cut(algorithms[i].Name, "/")
	return name
}
