package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rankStacks are the state of the library at a rank and its stacks, as the runtime prints them.
type rankStacks struct {
	rank, pid int
	text      string
}

// A goroutine is one of a rank.
type goroutine struct {
	rank, pid int
	id        int    // 1: main
	state     string // "chan receive"
	frames    []frame
}

// A frame is a function and its position in the source. The last frame of a goroutine may be the
// statement that has started the goroutine.
type frame struct{ function, at string }

// A stackGroup is goroutines with equal frames.
type stackGroup struct {
	goroutines []goroutine
	main       bool
}

// stackText returns the stacks of ranks: stacks of main first, and goroutines with equal stacks as
// one. Goroutines and calls inside the library are left out unless verbose is set.
func stackText(ranks []rankStacks, verbose bool) string {
	if len(ranks) == 0 {
		return ""
	}
	var b strings.Builder
	head := "goulfm: stacks of the program (-v adds those of the library):"
	if verbose {
		head = "goulfm: stacks:"
	}
	fmt.Fprintln(&b, head)
	var all []goroutine
	for _, r := range ranks {
		state, stacks := splitDump(r.text)
		if verbose {
			fmt.Fprintf(&b, "rank %d (pid %d), state of the library:\n%s\n", r.rank, r.pid, strings.TrimRight(state, "\n"))
		}
		all = append(all, goroutinesOf(r, stacks)...)
	}
	for _, g := range groupStacks(all, verbose) {
		fmt.Fprintf(&b, "%s:\n", g.head())
		for _, f := range g.goroutines[0].frames {
			fmt.Fprintf(&b, "    %s  %s\n", strings.Replace(f.function, module, "", 1), f.at)
		}
	}
	return b.String()
}

// splitDump returns the parts of the text of a rank: the state of the library, and the stacks.
func splitDump(text string) (state, stacks string) {
	const first = "goroutine "
	if strings.HasPrefix(text, first) {
		return "", text
	}
	if i := strings.Index(text, "\n"+first); i >= 0 {
		return text[:i+1], text[i+1:]
	}
	return text, ""
}

// goroutinesOf parses stacks. An incomplete stack, of a truncated text, has the frames up to the
// end.
func goroutinesOf(r rankStacks, stacks string) (all []goroutine) {
	for text := range strings.SplitSeq(stacks, "\n\n") {
		head, body, _ := strings.Cut(text, "\n")
		number, state, ok := strings.Cut(strings.TrimPrefix(head, "goroutine "), " [")
		id, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		state, _, _ = strings.Cut(strings.TrimSuffix(state, "]:"), ",") // no minutes
		g := goroutine{rank: r.rank, pid: r.pid, id: id, state: state}
		lines := strings.Split(body, "\n")
		for i := 0; i+1 < len(lines); i += 2 {
			at, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
			g.frames = append(g.frames, frame{functionName(lines[i]), at})
		}
		all = append(all, g)
	}
	return all
}

const createdBy = "created by "

// functionName returns a line of a stack without the arguments of the call.
func functionName(line string) string {
	if strings.HasPrefix(line, createdBy) {
		line, _, _ = strings.Cut(line, " in goroutine ")
		return line
	}
	if i := strings.LastIndexByte(line, '('); i > 0 {
		line = line[:i]
	}
	return line
}

// module begins the names of the functions of the library.
const module = "github.com/goulfm/goulfm/"

// programsOfModule are the directories of the module that hold programs.
var programsOfModule = []string{"bench/", "cmd/", "conformance", "examples/", "stress/"}

// standard are the first elements of the paths of the standard library's packages.
var standard = strings.Fields("archive bufio bytes cmp compress container context crypto database debug embed encoding " +
	"errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp " +
	"runtime slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak")

// ofProgram reports whether a function is one of the program: neither of the library nor of the
// standard library and golang.org/x, which the library calls.
func (f frame) ofProgram() bool {
	name := strings.TrimPrefix(f.function, createdBy)
	if inside, ours := strings.CutPrefix(name, module); ours {
		return slices.ContainsFunc(programsOfModule, func(dir string) bool { return strings.HasPrefix(inside, dir) })
	}
	if strings.HasPrefix(name, "golang.org/x/") {
		return false
	}
	first := strings.FieldsFunc(name, func(c rune) bool { return c == '/' || c == '.' })
	return len(first) > 0 && !slices.Contains(standard, first[0])
}

// groupStacks returns goroutines with equal frames as one group: main goroutines first, then by
// rank.
func groupStacks(all []goroutine, verbose bool) (groups []*stackGroup) {
	byText := map[string]*stackGroup{}
	for _, g := range all {
		first := slices.IndexFunc(g.frames, frame.ofProgram)
		switch {
		case verbose:
		case first < 0 && g.id != 1:
			continue
		case first > 0: // begin with the call that the program has made
			g.frames = g.frames[first-1:]
		}
		key := fmt.Sprint(g.id == 1, g.frames)
		if byText[key] == nil {
			byText[key] = &stackGroup{main: g.id == 1}
			groups = append(groups, byText[key])
		}
		byText[key].goroutines = append(byText[key].goroutines, g)
	}
	place := func(g *stackGroup) int {
		if g.main {
			return -1
		}
		return g.goroutines[0].rank
	}
	slices.SortStableFunc(groups, func(a, b *stackGroup) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.goroutines[0].rank, b.goroutines[0].rank))
	})
	return groups
}

// head returns "ranks 0-2: 3 goroutines, main [chan receive]".
func (g *stackGroup) head() string {
	var ranks []int
	var states []string
	for _, x := range g.goroutines {
		ranks, states = append(ranks, x.rank), append(states, x.state)
	}
	slices.Sort(ranks)
	slices.Sort(states)
	ranks, states = slices.Compact(ranks), slices.Compact(states)
	head := fmt.Sprintf("ranks %s", spans(ranks))
	if len(ranks) == 1 {
		head = fmt.Sprintf("rank %d (pid %d)", ranks[0], g.goroutines[0].pid)
	}
	head += ": " + plural(len(g.goroutines), "goroutine")
	if g.main {
		head += ", main"
	}
	return head + " [" + strings.Join(states, ", ") + "]"
}

// spans returns sorted numbers as "0-2,5,6".
func spans(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		if last == i+1 {
			last = i
		}
		part := strconv.Itoa(numbers[i])
		if last > i {
			part += "-" + strconv.Itoa(numbers[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ",")
}
