//go:build !linux

package detect

import (
	"fmt"
	"os"
)

// Main says that the command needs several processes, which there are on Linux.
func Main([]string) {
	fmt.Fprintln(os.Stderr, "detect: several processes need Linux")
	os.Exit(2)
}
