package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// inMemory is the algorithm of shared memory. A rule with this algorithm is followed by a rule for
// calls that must use messages.
const inMemory = "memory"

// clearly is the part of the time of an earlier algorithm that a chosen one may take at most.
const clearly = 0.9

// A rule is a line of a table of collectives.
type rule struct {
	Verb      string `json:"verb"`
	Ranks     int    `json:"ranks,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`
	Algorithm string `json:"algorithm"`
	Segment   int    `json:"segment,omitempty"`
}

const about = "Which way a collective goes: the first rule of its verb that fits. ranks, bytes and per_node are upper bounds, 0 is none; bytes are those of the vector, or of the block of one rank; per_node is how many ranks are on the node with most of them. nodes, crowded and direct are true or false: whether ranks are on several nodes, outnumber cores, move long messages from memory to memory."

// tableOf makes a table of figures.
func tableOf(figures []figure) ([]byte, error) {
	var b bytes.Buffer
	title, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	b.WriteString("{\n  \"about\": " + string(title) + ",\n  \"rules\": [\n")
	for i, r := range rules(figures) {
		line, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("    " + strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(string(line)))
	}
	b.WriteString("\n  ]\n}\n")
	return b.Bytes(), nil
}

// rules are the rules of all measured verbs: for each number of ranks and size, up to this size,
// the fastest algorithm. Neighbours with the same algorithm are one rule, and the last rule of each
// verb has no bound.
func rules(figures []figure) (all []rule) {
	for _, v := range verbs {
		var steps [][]rule // by number of ranks
		for _, n := range distinct(figures, func(f figure) (int, bool) { return f.ranks, f.verb == v.name }) {
			steps = append(steps, v.upTo(figures, n))
		}
		for i, step := range steps {
			if i+1 < len(steps) && sameBut(step, steps[i+1]) {
				continue // the next step has the same rules for more ranks
			}
			for _, r := range step {
				if i+1 == len(steps) {
					r.Ranks = 0
				}
				all = append(all, r)
			}
		}
	}
	return all
}

// sameBut reports whether two lists of rules differ in their ranks alone.
func sameBut(a, b []rule) bool {
	return slices.EqualFunc(a, b, func(x, y rule) bool { x.Ranks = y.Ranks; return x == y })
}

// upTo are the rules for n ranks.
func (v verb) upTo(figures []figure, n int) (all []rule) {
	sizes := distinct(figures, func(f figure) (int, bool) { return f.bytes, f.verb == v.name && f.ranks == n })
	groups := [][]int{sizes}
	if !v.byRanks {
		groups = nil
		for _, size := range sizes {
			groups = append(groups, []int{size})
		}
	}
	var last []rule
	for i, group := range groups {
		of := v.best(figures, n, group)
		for k := range of {
			of[k].Ranks, of[k].Bytes = n, group[len(group)-1]
			if i+1 == len(groups) {
				of[k].Bytes = 0
			}
		}
		if slices.EqualFunc(last, of, func(x, y rule) bool { x.Bytes = y.Bytes; return x == y }) {
			all = all[:len(all)-len(last)]
		}
		all, last = append(all, of...), of
	}
	return all
}

// best is the fastest algorithm for some sizes together. If this is the algorithm of shared memory,
// best also returns the fastest of the others.
func (v verb) best(figures []figure, n int, sizes []int) (all []rule) {
	name := v.fastest(figures, n, sizes, v.algorithms)
	all = append(all, v.rule(name))
	if name == inMemory {
		all = append(all, v.rule(v.fastest(figures, n, sizes, v.algorithms[1:])))
	}
	return all
}

func (v verb) rule(algorithm string) rule {
	name, segment, _ := strings.Cut(algorithm, ":")
	bytes, _ := strconv.Atoi(segment) // none: 0
	return rule{Verb: v.name, Algorithm: name, Segment: bytes}
}

func (v verb) fastest(figures []figure, n int, sizes []int, among []string) string {
	best, name := 0.0, ""
	for _, algorithm := range among {
		product, measured := 1.0, false
		for _, f := range figures {
			if f.verb == v.name && f.algorithm == algorithm && f.ranks == n && slices.Contains(sizes, f.bytes) {
				product, measured = product*f.seconds*1e6, true
			}
		}
		if measured && (name == "" || product < best*clearly) {
			best, name = product, algorithm
		}
	}
	return name
}

func distinct(figures []figure, of func(f figure) (int, bool)) (all []int) {
	for _, f := range figures {
		if v, ok := of(f); ok {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
