//go:build !linux

package detect

import (
	"fmt"
	"os"
)

// Main reports that the command needs several processes, which exist only on Linux.
func Main([]string) {
	fmt.Fprintln(os.Stderr, "detect: several processes need Linux")
	os.Exit(2)
}
