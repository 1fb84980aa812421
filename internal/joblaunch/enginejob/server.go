package enginejob

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/goulfm/goulfm/internal/net/pmi"
)

// askServer completes a claim by PMI: the server reports the name by which its ranks know their
// start.
//
// If all ranks are on one node, the session ends before they meet. hydra kills all ranks when one
// of them ends within its session, also one that ends with an error of its own, and a barrier of
// PMI never ends after a death. After Finalize the engine only lets a rank run. With several
// nodes the session is returned: the daemons exchange their cards in it. The server has the time
// of GOULFM_START_TIMEOUT for all answers.
func askServer(ctx context.Context, claim rm.Claim, within time.Duration) (rm.Claim, *pmi.Client, error) {
	server, ok := pmi.Find(os.Environ(), pmi.Alive)
	if !ok {
		return claim, nil, &Failure{Why: claim.Why + ": the PMI server is gone"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer within %v (%s): %w", within, timeoutVariable, os.ErrDeadlineExceeded))
	defer cancel()
	c, err := pmi.Open(ctx, server)
	if err != nil {
		return claim, nil, err
	}
	c.Timeout = max(within, pmi.RequestTimeout) // ctx ends first
	if claim, err = introduceTo(ctx, c, claim); err == nil && !isOnOneNode(&claim) && os.Getenv(secretVariable) == "" {
		return claim, c, nil
	}
	if err == nil {
		err = c.Finalize(ctx)
	}
	_ = c.Close()
	return claim, nil, err
}

// introduceTo begins the session.
func introduceTo(ctx context.Context, c *pmi.Client, claim rm.Claim) (rm.Claim, error) {
	if err := c.Init(ctx); err != nil {
		return claim, err
	}
	name, err := c.KVSName(ctx)
	if err != nil {
		return claim, err
	}
	rank, size := c.World()
	return claim.WithServer(rank, size, name)
}

// endSession ends a remaining session, which only a failed start leaves. The engine then ends all
// ranks, of which those on other nodes may wait in its barrier for this one. The engine may end
// this rank before Init returns, so the reason is printed first.
func endSession(c *pmi.Client, failed error) {
	if c == nil {
		return
	}
	if failed != nil {
		if f, ok := errors.AsType[*Failure](failed); ok && !f.Elsewhere {
			fmt.Fprintf(os.Stderr, "goulfm: init: %v\n", f)
			f.IsTold = true
		}
		_ = c.Abort(boot.ExitInit, failed.Error())
	}
	_ = c.Close()
}

// exchangeCards publishes the card of this rank's daemon, and returns the cards of all. The
// session is over then, so the engine does not react to a later death. A rank that does not need
// the cards (all is false) only publishes its own.
func exchangeCards(ctx context.Context, c *pmi.Client, claim *claim, card string, all bool) (*cards, error) {
	if err := c.Put(ctx, cardKey(claim.Rank), card); err != nil {
		return nil, err
	}
	if err := c.Barrier(ctx); err != nil {
		return nil, err
	}
	if !all {
		return nil, c.Finalize(ctx)
	}
	cs := &cards{}
	for rank := range claim.Size {
		text, err := c.Get(ctx, cardKey(rank))
		if err != nil {
			return nil, err
		}
		i := slices.Index(cs.Texts, text)
		if i < 0 {
			i = len(cs.Texts)
			cs.Texts = append(cs.Texts, text)
		}
		cs.Of = append(cs.Of, i)
	}
	return cs, c.Finalize(ctx)
}

func cardKey(rank int) string { return fmt.Sprintf("goulfm-%d", rank) }
