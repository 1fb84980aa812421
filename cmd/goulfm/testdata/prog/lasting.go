package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// These last for as long as a test needs them, however late what it has planned comes.

// untilFew waits for deaths, and repairs, until no more are left than the second argument says;
// then a token goes round.
func untilFew(ctx context.Context, w *comm.Comm) error {
	few, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	c := w
	for c.Size() > few {
		if err := awaitNext(ctx, c); !ulfm.Recoverable(err) {
			return err
		}
		if err := c.Revoke(); err != nil {
			return err
		}
		if c, err = c.Shrink(ctx); err != nil {
			return err
		}
	}
	if c.Rank() == 0 {
		fmt.Println("survivors", c.Group())
	}
	return ring(ctx, c)
}

// A token goes round with the sum of ranks; the last one says that it is.
const sumOfRanks, isLast = 0, 1

// untilInputEnds has tokens go round until the input of rank 0 ends, and looks at the sum of each.
func untilInputEnds(ctx context.Context, w *comm.Comm) error {
	var over atomic.Bool
	if w.Rank() == 0 {
		go func() { _, _ = io.Copy(io.Discard, os.Stdin); over.Store(true) }()
	}
	next, prev := w.To((w.Rank()+1)%w.Size()), w.From((w.Rank()+w.Size()-1)%w.Size())
	for token := []int{0, 0}; token[isLast] == 0; {
		if w.Rank() == 0 {
			token[sumOfRanks] = 0
			if over.Load() {
				token[isLast] = 1
			}
			if err := comm.Send(ctx, next, token); err != nil {
				return err
			}
		}
		if _, err := comm.Recv(ctx, prev, token); err != nil {
			return err
		}
		if w.Rank() > 0 {
			token[sumOfRanks] += w.Rank()
			if err := comm.Send(ctx, next, token); err != nil {
				return err
			}
		} else if token[sumOfRanks] != w.Size()*(w.Size()-1)/2 {
			return errors.New("a token has lost a rank")
		}
	}
	if w.Rank() == 0 {
		fmt.Println("all tokens came round")
	}
	return nil
}
