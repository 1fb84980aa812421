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

const usage = `usage:
  gridrpc up [--tree AxBx...xS] [--detect D] [--store FOLDER | s3://BUCKET | jetstream] [--store-dir DIR]
             [--masters 1 | 3 | 5] [--hosts A,B,C | N] [--rsh COMMAND] [--no-restart] [--no-recovery]
             [--listen HOST] [--certificates D] [--renew-after D]
             PROGRAM [ARGUMENT...] | --program 'SERVICE=PROGRAM ARGUMENT...' ... [--image-every D]
        starts a platform, which ends with this command: a master, or several of which one is the root, A agents, B agents below each of them, ..., and
        S servers below each agent of the last level, which run PROGRAM, a program or a
        folder of one; checkpoints are in a folder, where AWS_ENDPOINT_URL and others of
        its kind say (go doc ./store/s3), or with three processes of the platform
        (jetstream), each of which keeps its files in DIR on its machine, by default in the folder; several trees by commas are each below an agent of its own; silent
        processes are waited for D; with --hosts servers, agents, processes of the store and several
        masters are started on these machines in turn, by ssh or COMMAND: they have to see the folder, and have
        this command and PROGRAM at the same place; or servers, and processes of
        the store, are taken to be on N machines; with --listen other machines reach this one at
        HOST; certificates last D (24h), and are renewed at half of that, or when they are D old; with --program servers run, for each call, a program that
        knows nothing of all this, in a sandbox, from its input to its output (go doc ./sandbox)
  gridrpc call [--watch] [--timeout D] [--detect D] [--keep D] [--join TOKEN] [--name NAME] SERVICE [JSON | @FILE | -]
        calls a service, and prints the result as JSON; with --keep the call goes on if this
        command ends, and its outcome is held for D; with --join this machine does not see the platform's folder, and gets
        an identity of a client by the token, in --identity, by default gridrpc/client in the user's folder of settings
  gridrpc attach [--watch] [--cancel] [ID]
        prints the result of a call that is kept, or cancels it; without ID lists them
  gridrpc token new [--role server | client] [--uses N] [--for D] | ls | revoke ID
        prints a token by which machines that do not see the platform's folder come in: one of
        them within an hour, or N within D; lists tokens; ends one, and cuts off who came by it within seconds
  gridrpc serve [--join TOKEN] [--name NAME] [--identity DIR]
                PROGRAM [ARGUMENT...] | --program 'SERVICE=PROGRAM ARGUMENT...' ... [--image-every D]
        on such a machine: is a server of the platform; the token is needed once, then the
        identity is in DIR, by default gridrpc/server in the user's folder of settings
  gridrpc ls
        lists servers and services
  gridrpc tree
        shows who is whose child, and what each server runs
  gridrpc top [--every D]
        shows how well processes observe each other, and what servers run
  gridrpc ckpt ls | rm CALL... | rm --all
        lists or deletes checkpoints; those of calls that end are deleted anyhow
  gridrpc ckpt register FILE | restart FILE | notify
        in a program that a body has started: makes a file a part of the call's
        checkpoints, also one that is run when the call goes on elsewhere; makes one
All take --dir FOLDER, the folder of the platform, and those that ask it --identity DIR, the folder of an
identity where that is not seen.
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
		fmt.Fprintln(os.Stderr, "gridrpc:", strings.TrimPrefix(err.Error(), "gridrpc: "))
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
	case "attach":
		return attach(ctx, args[1:])
	case "ls":
		return list(ctx, args[1:])
	case "top":
		return top(ctx, args[1:])
	case "token":
		return tokens(ctx, args[1:])
	case "ckpt":
		return ckpt(ctx, args[1:])
	case "tree":
		return showTree(ctx, args[1:])
	case "free":
		return freeProcess(ctx, args[1:])
	case "store":
		return storeProcess(ctx, args[1:])
	case "serve":
		return serveProcess(ctx, args[1:])
	case "master", "agent":
		return agentProcess(ctx, args[0], args[1:])
	}
	fmt.Fprintf(os.Stderr, "gridrpc: no command %q\n", args[0])
	return errUsage
}
