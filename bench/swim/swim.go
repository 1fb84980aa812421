package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
)

// swim is a side of memberlist: pure SWIM, or with its extensions.
type swim struct {
	p    plan
	pure bool
}

const (
	namePure     = "SWIM, pure"
	namePushPull = "SWIM, push-pull"
)

func (s swim) name() string {
	if s.pure {
		return namePure
	}
	return namePushPull
}

// beMember is the argument with which this program is a member of SWIM.
const beMember = "member"

// start implements side. Each member joins all members before it, so that pure SWIM, which
// exchanges no states later, starts with complete lists.
func (s swim) start(ctx context.Context, c cell, _ int) (*group, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := newGroup(c.n)
	if err := s.startMembers(ctx, g, self, c); err != nil {
		g.end()
		return nil, err
	}
	return g, nil
}

func (s swim) startMembers(ctx context.Context, g *group, self string, c cell) error {
	var joined []string
	for i := range c.n {
		cmd := exec.Command(self, beMember, "-i", strconv.Itoa(i), "-n", strconv.Itoa(c.n), "-period", c.period.String(),
			"-settings", s.p.swim, "-pure="+strconv.FormatBool(s.pure), "-join", strings.Join(joined, ","))
		if err := g.run(cmd, false); err != nil {
			return err
		}
		if i == c.n-1 {
			break // no member joins the last one, and lines of others may overtake its line
		}
		word, words, err := g.await(ctx)
		switch {
		case err != nil:
			return err
		case word == lineKnows:
			return fmt.Errorf("%w: before all members have joined", errWrong)
		case word != lineAt || len(words) != 1:
			return fmt.Errorf("%s %v: want %s ADDRESS", word, words, lineAt)
		}
		joined = append(joined, words[0])
	}
	return g.awaitIn(ctx, c.n)
}

// settings returns the defaults of memberlist with all times in their ratio to the period. Pure
// SWIM has no exchange of states, no gossip beside the probes, and no probes by TCP.
func settings(name string, pure bool, period time.Duration) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	if name == "local" {
		c = memberlist.DefaultLocalConfig()
	}
	scale := func(d time.Duration, of time.Duration) time.Duration {
		return time.Duration(float64(d) * float64(period) / float64(of))
	}
	interval := c.ProbeInterval
	c.ProbeInterval, c.ProbeTimeout = period, scale(c.ProbeTimeout, interval)
	c.GossipInterval, c.PushPullInterval = scale(c.GossipInterval, interval), scale(c.PushPullInterval, interval)
	c.GossipToTheDeadTime = scale(c.GossipToTheDeadTime, interval)
	if pure {
		c.PushPullInterval, c.GossipInterval, c.DisableTcpPings = 0, 0, true
	}
	c.BindAddr, c.BindPort, c.AdvertisePort = "127.0.0.1", 0, 0
	return c
}

// member is a member of a group until it is killed.
func member(args []string) {
	f := flag.NewFlagSet(beMember, flag.ExitOnError)
	i, n := f.Int("i", 0, "number"), f.Int("n", 0, "members")
	period, name, join := f.Duration("period", 0, "of probes"), f.String("settings", "", "lan, local"), f.String("join", "", "addresses")
	pure := f.Bool("pure", false, "without the extensions")
	_ = f.Parse(args)
	c := settings(*name, *pure, *period)
	c.Name, c.Logger = strconv.Itoa(*i), log.New(io.Discard, "", 0)
	c.Events = &listener{i: *i, n: *n}
	list, err := memberlist.Create(c)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lineAt, list.LocalNode().Address())
	if *join != "" {
		if _, err := list.Join(strings.Split(*join, ",")); err != nil {
			log.Fatal(err)
		}
	}
	select {}
}

// A listener prints the events of a member.
type listener struct {
	i, n int
	in   atomic.Int32
}

// NotifyJoin implements memberlist.EventDelegate. A member that knows n members has joined.
func (l *listener) NotifyJoin(*memberlist.Node) {
	if int(l.in.Add(1)) == l.n {
		fmt.Println(lineIn, l.i, os.Getpid())
	}
}

// NotifyLeave implements memberlist.EventDelegate: a member was declared dead.
func (l *listener) NotifyLeave(node *memberlist.Node) {
	fmt.Println(lineKnows, l.i, node.Name, nowNs())
}

// NotifyUpdate implements memberlist.EventDelegate.
func (l *listener) NotifyUpdate(*memberlist.Node) {}
