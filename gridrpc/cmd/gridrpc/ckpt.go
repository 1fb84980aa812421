package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/bundle"
	"github.com/goulfm/goulfm/gridrpc/internal/folder"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// ckpt is about the checkpoints of a platform, or of the call that this program runs for.
func ckpt(ctx context.Context, args []string) error {
	f := flags("ckpt")
	if err := parse(f, args); err != nil || f.NArg() < 1 {
		return errUsage
	}
	switch verb, rest := f.Arg(0), f.Args()[1:]; {
	case verb == "register" && len(rest) == 1, verb == "restart" && len(rest) == 1, verb == "notify" && len(rest) == 0:
		answer, err := gridrpc.Order(ctx, f.Args()...)
		if answer != "" {
			fmt.Println(answer)
		}
		return err
	case verb == "ls" && len(rest) == 0:
		return listCheckpoints(ctx)
	case verb == "rm" && len(rest) == 1 && rest[0] == "--all":
		return removeCheckpoints(ctx, nil)
	case verb == "rm" && len(rest) > 0:
		return removeCheckpoints(ctx, rest)
	}
	return errUsage
}

// openStore opens the store of the platform.
func openStore() (checkpoint.Store, error) {
	name, err := folder.Store(gridrpc.DefaultDir())
	if err != nil {
		return nil, err
	}
	s, err := gridrpc.OpenStore(name)
	if err == nil && s == nil {
		err = fmt.Errorf("the platform in %s has no store", gridrpc.DefaultDir())
	}
	return s, err
}

func listCheckpoints(ctx context.Context) error {
	s, err := openStore()
	if err != nil {
		return err
	}
	all, err := bundle.List(ctx, s, "")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CALL\tATTEMPT\tNUMBER\tBYTES\tFILES AND VALUES")
	for _, id := range all {
		m, err := bundle.Load(ctx, s, id)
		if err != nil {
			fmt.Fprintf(w, "%s\t%d\t%d\t%v\t\n", id.Call, id.Attempt, id.Number, err)
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t", id.Call, id.Attempt, id.Number, m.Bytes())
		for i, p := range m.Pieces {
			if i > 0 {
				fmt.Fprint(w, ", ")
			}
			fmt.Fprint(w, p.Name)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// removeCheckpoints deletes those of calls that nobody will go on with; without names, of all.
func removeCheckpoints(ctx context.Context, calls []string) error {
	s, err := openStore()
	if err != nil {
		return err
	}
	all, err := bundle.List(ctx, s, "")
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, id := range all {
		there[id.Call] = true
	}
	if len(calls) == 0 {
		for call := range there {
			err = errors.Join(err, bundle.Remove(ctx, s, call))
		}
		return err
	}
	for _, call := range calls {
		if !there[call] {
			err = errors.Join(err, fmt.Errorf("no checkpoint of a call %q", call))
			continue
		}
		err = errors.Join(err, bundle.Remove(ctx, s, call))
	}
	return err
}
