package comm

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// within are the packages of this module through which a call of the program waits.
var within = []string{"comm", "collectives", "recovery", "rma", "shmem", "ulfm", "internal/"}

// waiting are the beginnings of the names of the engine's functions in which a call of the program
// waits.
var waiting = []string{"internal/engine.(*leadership).await", "internal/engine.(*leadership).watch", "internal/engine.(*Watch).sleep"}

const module = "github.com/goulfm/goulfm/"

// waitingLines returns the lines of the program that wait in a call of this module,
// each once, as "heat.go:88", of the stacks that the runtime prints.
func waitingLines(stacks string) (lines []string) {
	for goroutine := range strings.SplitSeq(stacks, "\n\n") {
		if at := waitingLine(goroutine); at != "" && !slices.Contains(lines, at) {
			lines = append(lines, at)
		}
	}
	slices.Sort(lines)
	return lines
}

// waitingLine returns the line of one goroutine, or nothing if the goroutine does not wait in the
// engine on behalf of the program. A stack has two lines for each call, the innermost call first:
// the function, and its position in the source.
func waitingLine(goroutine string) string {
	frames := strings.Split(goroutine, "\n")
	waits := false
	for i := 1; i+1 < len(frames); i += 2 {
		name := strings.TrimPrefix(frames[i], module)
		ours := name != frames[i] && slices.ContainsFunc(within, func(p string) bool { return strings.HasPrefix(name, p) })
		switch {
		case ours:
			waits = waits || slices.ContainsFunc(waiting, func(p string) bool { return strings.HasPrefix(name, p) })
		case waits && !strings.HasPrefix(frames[i], "created by"):
			return place(frames[i+1])
		}
	}
	return ""
}

// place shortens "\t/home/me/heat/heat.go:88 +0x1a" to "heat.go:88".
func place(line string) string {
	at, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	return fmt.Sprint(path.Base(at))
}
