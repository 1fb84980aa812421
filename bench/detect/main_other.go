//go:build !linux

// Detect measures how long it takes from a SIGKILL until the survivors know: on
// Linux, where goulfm run exists.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "detect: several processes need Linux")
	os.Exit(2)
}
