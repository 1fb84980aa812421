package commtest

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// label marks the goroutines of one Run: children inherit it, so that leftovers
// are found while other tests run.
const label = "commtest"

var runs atomic.Int64

// labelled calls f with a labelled context. The label marks all goroutines started below it; left
// returns the stacks of the goroutines that are still alive.
func labelled(ending time.Duration, f func(ctx context.Context, left func() string)) {
	id := strconv.FormatInt(runs.Add(1), 10)
	pprof.Do(context.Background(), pprof.Labels(label, id), func(ctx context.Context) {
		f(ctx, func() string { return leftovers(id, ending) })
	})
}

func leftovers(id string, ending time.Duration) string {
	mark := `"` + label + `":"` + id + `"`
	for end := time.Now().Add(ending); ; runtime.Gosched() {
		stacks := marked(mark)
		if stacks == "" || time.Now().After(end) {
			return stacks
		}
	}
}

// marked returns the stacks of goroutines with a mark, except that of the caller.
func marked(mark string) string {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return ""
	}
	var out []string
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, mark) && !strings.Contains(stack, "commtest.leftovers") {
			out = append(out, stack)
		}
	}
	return strings.Join(out, "\n\n")
}
