// Command goulfm runs goulfm programs: goulfm run -n 8 ./examples/heat.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/joblaunch/launch"
)

func main() { os.Exit(command(context.Background(), os.Args[1:])) }

func command(ctx context.Context, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage())
		return launch.ExitUsage
	}
	name := args[0]
	switch {
	case isHelp(name):
		return printHelp(ctx, slices.DeleteFunc(slices.Clone(args[1:]), isHelp))
	case strings.TrimLeft(name, "-") == "version":
		name = "version"
	}
	c, known := find(name)
	if !known {
		fmt.Fprintf(os.Stderr, "goulfm %s: no such command: goulfm help lists them\n", name)
		return launch.ExitUsage
	}
	return c.run(ctx, args[1:])
}
