package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/ckptset"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/server"
	"github.com/goulfm/goulfm/gridrpc/store"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// order returns the command that sends an order to the call that has started this program.
func order(verb string, n int) func(ctx context.Context, args []string) error {
	return func(ctx context.Context, args []string) error {
		f := flags("ckpt " + verb)
		if err := parse(f, args, n, n); err != nil {
			return err
		}
		answer, err := server.Order(ctx, append([]string{verb}, f.Args()...)...)
		if answer != "" {
			fmt.Println(answer)
		}
		return err
	}
}

// openStore opens the store of the platform.
func openStore() (checkpoint.Store, error) {
	name, err := discovery.Store(gridrpc.DefaultDir())
	if err != nil {
		return nil, err
	}
	s, err := store.Open(context.Background(), name)
	if err == nil && s == nil {
		err = fmt.Errorf("the platform in %s has no store", gridrpc.DefaultDir())
	}
	return s, err
}

// listCheckpoints lists the checkpoints of the platform.
func listCheckpoints(ctx context.Context, args []string) error {
	f := flags("ckpt ls")
	if err := parse(f, args, 0, 0); err != nil {
		return err
	}
	s, err := openStore()
	if err != nil {
		return err
	}
	all, err := ckptset.List(ctx, s, "")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CALL\tATTEMPT\tNUMBER\tBYTES\tFILES AND VALUES")
	for _, id := range all {
		m, err := ckptset.Load(ctx, s, id)
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

// removeCheckpoints deletes checkpoints of calls that no client will continue.
func removeCheckpoints(ctx context.Context, args []string) error {
	f := flags("ckpt rm")
	all := f.Bool("all", false, "delete those of all calls")
	if err := parse(f, args, 0, anyNumber); err != nil {
		return err
	}
	if *all == (f.NArg() > 0) {
		return mistake{"ckpt rm", "an argument is missing, or is beside --all"}
	}
	return removeOf(ctx, f.Args())
}

// removeOf deletes the checkpoints of these calls, or of all calls if there are none.
func removeOf(ctx context.Context, calls []string) error {
	s, err := openStore()
	if err != nil {
		return err
	}
	all, err := ckptset.List(ctx, s, "")
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, id := range all {
		there[id.Call] = true
	}
	if len(calls) == 0 {
		for call := range there {
			err = errors.Join(err, ckptset.Remove(ctx, s, call))
		}
		return err
	}
	for _, call := range calls {
		if !there[call] {
			err = errors.Join(err, fmt.Errorf("no checkpoint of a call %q", call))
			continue
		}
		err = errors.Join(err, ckptset.Remove(ctx, s, call))
	}
	return err
}
