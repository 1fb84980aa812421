package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/goulfm/goulfm/gridrpc"
)

// attach fetches the result of a kept call, cancels the call, or lists all kept calls.
func attach(ctx context.Context, args []string) error {
	f := flags("attach")
	watch := f.Bool("watch", false, "print all events of the call")
	cancel := f.Bool("cancel", false, "cancel the call")
	if err := parse(f, args, 0, 1); err != nil {
		return err
	}
	if *cancel && f.NArg() == 0 {
		return mistake{"attach", "--cancel: want the ID of a call"}
	}
	c, err := dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if f.NArg() == 0 {
		return listKept(ctx, c)
	}
	if *cancel {
		s, err := gridrpc.Attach[json.RawMessage](ctx, c, f.Arg(0))
		if err != nil {
			return err
		}
		s.Cancel()
		if _, err = s.Wait(ctx); errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	s, err := gridrpc.Attach[json.RawMessage](ctx, c, f.Arg(0), gridrpc.InCodec(gridrpc.JSON), gridrpc.Watch(teller(*watch)))
	if err != nil {
		return err
	}
	return printResult(ctx, s)
}

func listKept(ctx context.Context, c *gridrpc.Client) error {
	all, err := c.Kept(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CALL\tSERVICE\tSERVER\tATTEMPT\tSTATE")
	for _, k := range all {
		state := "runs"
		if k.Done {
			state = "has ended"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", k.ID, k.Service, k.Server, k.Attempt, state)
	}
	return w.Flush()
}
