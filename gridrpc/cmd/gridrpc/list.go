package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"
)

func list(ctx context.Context, args []string) error {
	f := flags("ls")
	if err := parse(f, args, 0, 0); err != nil {
		return err
	}
	c, err := dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	offers, err := c.Offers(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SERVER\tSERVICE\tPLACES\tWAIT\tRATE\tMETRIC\tADDRESS")
	for _, o := range offers {
		fmt.Fprintf(w, "%s\t%s\t%d\t%v\t%.3g/s\t%g\t%s\n", o.Server, o.Service, o.Free, o.Wait.Round(1e6), o.Rate, o.Metric, o.Addr)
	}
	return w.Flush()
}
