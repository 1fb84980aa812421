package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The output of ranks, a line each.
const (
	lineIn    = "in"    // NODE DAEMON RANK: the rank is in Init's world; pids of its daemon and of itself
	lineKnows = "knows" // NODE VICTIM NS: since then the rank of a node knows that the victim is dead
)

// numbers is how many numbers follow the word.
var numbers = map[string]int{lineIn: 3, lineKnows: 3}

// parseLine reads a line of a rank; ok reports whether the text is such a line.
func parseLine(text string) (what string, words []int64, ok bool) {
	fields := strings.Fields(text)
	if len(fields) == 0 || numbers[fields[0]] == 0 || len(fields)-1 != numbers[fields[0]] {
		return "", nil, false
	}
	for _, f := range fields[1:] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil || n < 0 {
			return "", nil, false
		}
		words = append(words, n)
	}
	return fields[0], words, true
}

// socketOf reads from a line of --report json the path of the socket for watchers.
func socketOf(line string) (path string, ok bool) {
	var e struct{ Event, Text string }
	if json.Unmarshal([]byte(line), &e) != nil || e.Event != "watch" {
		return "", false
	}
	_, rest, ok := strings.Cut(e.Text, "--socket ")
	path, _, _ = strings.Cut(rest, " ")
	return path, ok && path != ""
}

// failedOf reads from a line of --report json how many ranks had failed at the end of the job.
func failedOf(line string) (failed int, ok bool) {
	var e struct {
		Event string
		Ranks []int
	}
	if json.Unmarshal([]byte(line), &e) != nil || e.Event != "end" {
		return 0, false
	}
	return len(e.Ranks), true
}

// A tail keeps the last lines of a program's standard error, for the error that ends a run.
type tail struct{ lines []string }

// tailMax is the number of these lines.
const tailMax = 12

func (t *tail) add(line string) {
	if t.lines = append(t.lines, line); len(t.lines) > tailMax {
		t.lines = t.lines[1:]
	}
}

func (t *tail) String() string {
	if len(t.lines) == 0 {
		return ""
	}
	return fmt.Sprintf("\n\t%s", strings.Join(t.lines, "\n\t"))
}
