// Package machine names the machine on which figures are taken.
package machine

import (
	"os"
	"runtime"
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
