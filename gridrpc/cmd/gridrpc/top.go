package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
)

// top shows the observations of processes and the calls of servers, repeatedly.
func top(ctx context.Context, args []string) error {
	f := flags("top")
	every := f.Duration("every", 0, "show it again after this time; 0: once")
	if err := parse(f, args, 0, 0); err != nil {
		return err
	}
	c, err := dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		root, err := c.Describe(ctx)
		if err != nil {
			return err
		}
		if err := showTop(os.Stdout, root); err != nil || *every <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(*every):
			fmt.Println()
		}
	}
}

// showTop prints two tables.
func showTop(out io.Writer, root gridrpc.Description) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROCESS\tOBSERVES\tROUND TRIP\tLOSS\tA BEAT EACH\tA MISTAKE EACH\t")
	walk(root, func(d gridrpc.Description) {
		for _, o := range d.Watched {
			state := ""
			if o.Suspected {
				state = "suspected"
			} else if !o.Attainable {
				state = "not as seldom as asked"
			}
			fmt.Fprintf(w, "%s\t%s\t%v\t%.2g\t%v\t%s\t%s\n", d.Name, o.Name, o.RTT.Round(time.Microsecond), o.Loss, o.Period.Round(time.Millisecond), long(o.Recurrence), state)
		}
	})
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nSERVER\tSERVICE\tCALL\tATTEMPT\tPROGRESS\tCHECKPOINTS")
	walk(root, func(d gridrpc.Description) {
		for _, r := range d.Running {
			fmt.Fprintf(w, "%s\t%s\t%.8s\t%d\t%g of %g\t%d\n", d.Name, r.Service, r.Call, r.Attempt, r.Done, r.Total, r.Checkpoints)
		}
	})
	return w.Flush()
}

func walk(d gridrpc.Description, visit func(gridrpc.Description)) {
	visit(d)
	for _, c := range d.Children {
		walk(c, visit)
	}
}

// long formats a long time as one word.
func long(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d > 10000*day:
		return ">10000d"
	case d > 2*day:
		return fmt.Sprintf("%dd", d/day)
	}
	return d.Round(time.Second).String()
}
