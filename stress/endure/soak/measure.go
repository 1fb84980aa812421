package soak

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/procfs"
)

// Quantities are the figures of a sample, in this order, with the limits of their growth from the
// end of the warm-up to the end. A limit is a fixed amount, and a number of bytes for each
// communicator made in between. A communicator leaves its context index, which is never used again:
// some bits in three tables. Any other remains would be kilobytes.
var quantities = [...]struct {
	name string
	may  int64
	each int64 // bytes
}{
	{"RSS KiB", 4096, placeBytes}, // the runtime keeps pages and thread stacks as it likes
	{"heap KiB", 512, placeBytes}, // a table that is copied when it grows exists twice
	{"goroutines", 0, 0},
	{"descriptors", 0, 0},
	{"segments", 0, 0}, // maps of shared memory
	{"segment KiB", 0, 0},
}

// placeBytes is the limit of the remains of a communicator: pages of the tables that are over fold
// into words, so 1 would do.
const placeBytes = 4

// A sample has a figure for each quantity.
type sample [len(quantities)]int64

// String is the figures of a row.
func (s sample) String() string {
	var b strings.Builder
	for _, v := range s {
		fmt.Fprintf(&b, " %12d", v)
	}
	return b.String()
}

// measure measures this process, after it has returned the free memory of the garbage collector.
// Where there is no /proc, the figures from there are 0.
func measure() sample {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	count, size := segments(read("/proc/self/maps"))
	return sample{procfs.RSS(os.Getpid()), int64(m.HeapAlloc >> 10), int64(runtime.NumGoroutine()), procfs.Descriptors(os.Getpid()), count, size}
}

func read(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(text)
}

// segments finds the shared mappings in the maps of a process, and their size in KiB.
func segments(maps string) (count, size int64) {
	for line := range strings.Lines(maps) {
		var from, to int64
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n == 3 && strings.HasSuffix(mode, "s") {
			count, size = count+1, size+(to-from)>>10
		}
	}
	return count, size
}

// growth lists the quantities that have grown by more than their limits while a number of
// communicators were made; empty: none.
func growth(first, last sample, made int) string {
	var bad []string
	for i, may := range limits(made) {
		if last[i] > first[i]+may {
			bad = append(bad, fmt.Sprintf("%s: %d, was %d and may grow by %d", quantities[i].name, last[i], first[i], may))
		}
	}
	return strings.Join(bad, "; ")
}

func limits(made int) (most sample) {
	for i, q := range quantities {
		most[i] = q.may + q.each*int64(made)>>10
	}
	return most
}
