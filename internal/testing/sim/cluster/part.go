package cluster

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// part is the rest of a run from which the shrinker has removed items. All choices are functions of
// their purpose (world.Tape). So the remaining choices stay unchanged if each item keeps its name:
// a process its number in the whole run, a communicator its uid there (its name), a member its
// rank. The zero part is a whole run.
type part struct {
	whole  int    // processes of the whole run; 0: this is a whole run
	names  []int  // process i was process names[i] there, ascending
	groups []roll // members of the communicators there
	skips  []skip // calls that no member makes
	delays uint64 // selects another drawing of all delays; 0 = that of the whole run
}

// roll lists the members of a communicator in the whole run, by their names and in order.
type roll struct {
	name  commstate.UID
	procs []int
}

// skip is a call that is left out: number k of a plan, or the revocation by the process with name
// k.
type skip struct {
	name commstate.UID
	what operation
	k    int
}

// operation is a list of calls of a plan.
type operation uint8

const (
	opRepair operation = iota
	opCreate
	opGather
	opRevoke
	opOther // is never left out: messages, and closing
)

var operationNames = []string{"repair", "create", "gather", "revoke"}

// made is a call that a program has made.
type made struct {
	skip      // the skip that would leave the call out
	steps int // of the process before it
}

func (o operation) String() string { return operationNames[o] }

// nameOf returns the name of a process.
func (p *part) nameOf(proc int) int {
	if p.names == nil {
		return proc
	}
	return p.names[proc]
}

func (p *part) skipped(name commstate.UID, what operation, k int) bool {
	return slices.Contains(p.skips, skip{name, what, k})
}

// rollOf returns the members of a communicator in the whole run, if they are known. For a whole run
// rollOf records the members now, for runs that are a part of this one.
func (p *part) rollOf(name commstate.UID, procs []int) []int {
	known := slices.IndexFunc(p.groups, func(r roll) bool { return r.name == name })
	if known >= 0 && p.whole > 0 {
		return p.groups[known].procs
	}
	var names []int
	for _, proc := range procs {
		names = append(names, p.nameOf(proc))
	}
	if known < 0 { // otherwise members differ, and some are dead (A17)
		p.groups = append(slices.Clip(p.groups), roll{name, names})
	}
	return names
}

// only keeps the rolls of communicators that existed in a run.
func (p *part) only(used func(name commstate.UID) bool) {
	p.groups = slices.DeleteFunc(slices.Clone(p.groups), func(r roll) bool { return !used(r.name) })
}

// without returns the part without the processes for which leave is true. The others are numbered
// anew.
func (p part) without(n int, leave func(proc int) bool) part {
	q := p
	q.names = nil
	for proc := range n {
		if !leave(proc) {
			q.names = append(q.names, p.nameOf(proc))
		}
	}
	if q.whole == 0 {
		q.whole = n
	}
	return q
}

// script returns the part as lines of a script: none for a whole run.
func (p *part) script() string {
	var b strings.Builder
	if p.whole > 0 {
		fmt.Fprintf(&b, "part of %d names %s\n", p.whole, listText(p.names))
	}
	for _, r := range p.groups {
		if p.whole == 0 {
			break
		}
		fmt.Fprintf(&b, "part roll %s %s\n", hex.EncodeToString(r.name[:]), listText(r.procs))
	}
	for _, s := range p.skips {
		fmt.Fprintf(&b, "part skip %s %v %d\n", hex.EncodeToString(s.name[:]), s.what, s.k)
	}
	if p.delays != 0 {
		fmt.Fprintf(&b, "part delays %d\n", p.delays)
	}
	return b.String()
}

func listText(list []int) string {
	var words []string
	for _, v := range list {
		words = append(words, strconv.Itoa(v))
	}
	return strings.Join(words, ",")
}

func parseList(text string) ([]int, error) {
	var list []int
	for _, w := range strings.Split(text, ",") {
		v, err := strconv.Atoi(w)
		if err != nil || v < 0 || v >= ProcessesMax {
			return nil, fmt.Errorf("list %q", text)
		}
		list = append(list, v)
	}
	return list, nil
}

func parseUID(text string) (commstate.UID, error) {
	var u commstate.UID
	if b, err := hex.DecodeString(text); err == nil && len(b) == len(u) {
		return commstate.UID(b), nil
	}
	return u, fmt.Errorf("uid %q", text)
}

// parse reads one line without its first word.
func (p *part) parse(words []string) error {
	var err error
	switch {
	case words[0] == "of" && len(words) == 4 && words[2] == "names":
		if p.whole, err = strconv.Atoi(words[1]); err == nil {
			p.names, err = parseList(words[3])
		}
	case words[0] == "roll" && len(words) == 3:
		var r roll
		if r.name, err = parseUID(words[1]); err == nil {
			r.procs, err = parseList(words[2])
		}
		p.groups = append(p.groups, r)
	case words[0] == "skip" && len(words) == 4:
		var s skip
		if s.name, err = parseUID(words[1]); err == nil {
			s.k, err = strconv.Atoi(words[3])
		}
		what := slices.Index(operationNames, words[2])
		if what < 0 {
			return fmt.Errorf("no such operation: %s", words[2])
		}
		s.what = operation(what)
		p.skips = append(p.skips, s)
	case words[0] == "delays" && len(words) == 2:
		p.delays, err = strconv.ParseUint(words[1], 0, 64)
	default:
		err = fmt.Errorf("no such line: part %s", strings.Join(words, " "))
	}
	return err
}

// check returns an error if the part does not fit a run of n processes.
func (p *part) check(n int) error {
	switch {
	case p.whole == 0 && p.names == nil:
		return nil
	case p.whole > ProcessesMax || len(p.names) != n || !ascending(p.names) || p.names[n-1] >= p.whole:
		return fmt.Errorf("%d processes, and names %v of %d", n, p.names, p.whole)
	}
	return nil
}

func ascending(list []int) bool {
	for i := range list[1:] {
		if list[i] >= list[i+1] {
			return false
		}
	}
	return true
}
