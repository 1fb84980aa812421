package main

import (
	"context"
	"os"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
)

func main() {
	if beRankIfAsked(os.Args[1:]) {
		return
	}
	p, err := parse(os.Args[1:])
	cli.Check(program, err)
	cli.Run(program, func(ctx context.Context) error { return takeAll(ctx, p) })
}
