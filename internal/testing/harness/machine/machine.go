// Package machine names the machine on which figures are taken.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Processor returns the model of the processor, or the architecture where the system does not tell.
func Processor() string {
	data, _ := os.ReadFile("/proc/cpuinfo") // another system: no name
	return processor(string(data))
}

func processor(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// Load returns the load average of the last minute: the work of others falsifies figures.
func Load() string {
	one, _, _ := strings.Cut(FirstLine(os.ReadFile("/proc/loadavg")), " ")
	return one
}

// Kernel returns the release of the kernel.
func Kernel() string { return FirstLine(os.ReadFile("/proc/sys/kernel/osrelease")) }

// FirstLine returns the first line of a text, or "unknown" where there is none for err.
func FirstLine(data []byte, err error) string {
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	return line
}

// loadMax is the load average of the last minute above which Quiet refuses to measure.
const loadMax = 1.0

// Quiet returns the load average of the last minute. It returns an error if the load is above
// loadMax, unless busy is set: the work of other programs then becomes a part of the figures.
func Quiet(busy bool) (load string, err error) { return quiet(Load(), busy) }

func quiet(load string, busy bool) (string, error) {
	if busy {
		return load, nil
	}
	switch value, err := strconv.ParseFloat(load, 64); {
	case err != nil:
		return load, fmt.Errorf("the load average is %q, not a number: use -busy to measure without it", load)
	case value > loadMax:
		return load, fmt.Errorf("the load average is %s, must be at most %g: wait, or use -busy", load, loadMax)
	}
	return load, nil
}
