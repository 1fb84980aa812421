package main

import (
	"context"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/bench/internal/cli"
)

func main() {
	if beRankIfAsked(os.Args[1:]) {
		return
	}
	p, err := parse(os.Args[1:])
	cli.Check(program, err)
	cli.Run(program, func(ctx context.Context) error { return takeAll(ctx, p) })
}

// report writes a figure's files, prints its rows, and replaces them in the page.
func report(p plan, f *figure) error {
	if err := f.write(p.out); err != nil {
		return err
	}
	fmt.Print(f.table())
	if p.table == "" {
		return nil
	}
	page, err := os.ReadFile(p.table)
	if err != nil {
		return err
	}
	text, err := replaceRows(string(page), f.id, f.table())
	if err != nil {
		return fmt.Errorf("%s: %w", p.table, err)
	}
	return os.WriteFile(p.table, []byte(text), 0o644)
}
