package sandbox

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// processor names the properties of the processor that an image requires: architecture, vendor,
// family, model, and a sum of the names of its features.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // without it all processors of an architecture count as equal
	return parseProcessor(string(text))
}

// parseProcessor reads the first processor of /proc/cpuinfo.
func parseProcessor(text string) string {
	first, _, _ := strings.Cut(text, "\n\n")
	named := map[string]string{}
	for line := range strings.Lines(first) {
		name, value, _ := strings.Cut(line, ":")
		named[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	words := []string{runtime.GOARCH}
	for _, name := range []string{"vendor_id", "cpu family", "model", "CPU implementer", "CPU part"} {
		if named[name] != "" {
			words = append(words, named[name])
		}
	}
	features := slices.Sorted(slices.Values(strings.Fields(named["flags"] + " " + named["Features"])))
	return fmt.Sprintf("%s %.4x", strings.Join(words, "/"), sha256.Sum256([]byte(strings.Join(features, " "))))
}
