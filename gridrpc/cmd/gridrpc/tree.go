package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// showTree prints the tree of agents and servers.
func showTree(ctx context.Context, args []string) error {
	f := flags("tree")
	if err := parse(f, args, 0, 0); err != nil {
		return err
	}
	c, err := dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	root, err := c.Describe(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(os.Stdout, draw(root, ""))
	return nil
}

// draw returns one line for each process, indented below its parent.
func draw(d gridrpc.Description, indent string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s %s", indent, d.Name, d.Addr)
	for _, r := range d.Running {
		fmt.Fprintf(&b, ", runs %s of %.8s, attempt %d", r.Service, r.Call, r.Attempt)
		if r.Total > 0 {
			fmt.Fprintf(&b, ", %g of %g", r.Done, r.Total)
		}
	}
	if d.Err != nil {
		fmt.Fprintf(&b, ", does not answer: %s", link.Why(d.Err))
	}
	b.WriteString("\n")
	for _, child := range d.Children {
		b.WriteString(draw(child, indent+"  "))
	}
	return b.String()
}
