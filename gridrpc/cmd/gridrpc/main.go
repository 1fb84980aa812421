// Command gridrpc starts platforms of servers and calls their services:
//
//	gridrpc up ./examples/dgemm
//	gridrpc call dgemm '{"n":400}'
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage:
  gridrpc up [--tree AxB] [--no-restart] PROGRAM [ARGUMENT...]
        starts a platform here: a master, A agents, and B servers of each agent, which
        run PROGRAM, a program or a folder of one
  gridrpc call [--watch] [--timeout D] SERVICE [JSON | @FILE | -]
        calls a service, and prints the result as JSON
  gridrpc ls
        lists servers and services
All take --dir FOLDER, the folder of the platform.
`

// errUsage is a mistake of who typed the command.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := command(ctx, os.Args[1:]); {
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "gridrpc:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	switch args[0] {
	case "up":
		return up(ctx, args[1:])
	case "call":
		return call(ctx, args[1:])
	case "ls":
		return list(ctx, args[1:])
	case "master", "agent":
		return agentProcess(ctx, args[0], args[1:])
	}
	fmt.Fprintf(os.Stderr, "gridrpc: no command %q\n", args[0])
	return errUsage
}
