package main

import (
	"fmt"
	"os"
)

func simulate(args []string) int {
	fmt.Fprintln(os.Stderr, "goulfm sim: not yet")
	return 2
}
