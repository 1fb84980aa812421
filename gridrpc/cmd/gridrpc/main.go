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
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Args[1:])
	if err == nil || errors.Is(err, errHelped) {
		return
	}
	fmt.Fprintln(os.Stderr, "gridrpc:", strings.TrimPrefix(err.Error(), "gridrpc: "))
	if _, wrong := errors.AsType[mistake](err); wrong {
		os.Exit(2)
	}
	os.Exit(1)
}

// command runs the verb that the arguments name.
func command(ctx context.Context, args []string) error {
	switch {
	case len(args) == 0:
		return mistake{"", "a command is missing"}
	case args[0] == "help" || args[0] == "-h" || args[0] == "-help" || args[0] == "--help":
		return help(args[1:])
	case args[0] == "version" || args[0] == "-version" || args[0] == "--version":
		fmt.Println(version())
		return nil
	}
	if v, ok := find(args[0]); ok {
		return v.run(ctx, args[1:])
	}
	members := group(args[0])
	if len(members) == 0 {
		return unknown(args[0])
	}
	f := flags(args[0]) // flags may also stand before the second word
	if err := parse(f, args[1:], 1, anyNumber); err != nil {
		return err
	}
	name := args[0] + " " + f.Arg(0)
	v, ok := find(name)
	if !ok {
		return unknown(name)
	}
	return v.run(ctx, f.Args()[1:])
}
