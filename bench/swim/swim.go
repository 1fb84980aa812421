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
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
)

// swim is the side of memberlist.
type swim struct{ p plan }

func (swim) name() string { return "swim" }

// beMember makes this program a member.
const beMember = "member"

// start implements side: one member after the other joins the first.
func (s swim) start(ctx context.Context, n, _ int) (*group, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &group{pids: map[int][]int{}, lines: make(chan string, 4*n)}
	first := ""
	for i := range n {
		cmd := exec.Command(self, beMember, "-i", strconv.Itoa(i), "-n", strconv.Itoa(n), "-period", s.p.period.String(), "-settings", s.p.swim, "-join", first)
		err := g.run(cmd)
		if i == 0 && err == nil {
			var words []string
			if _, words, err = g.await(ctx); err == nil {
				first = words[0]
			}
		}
		if err != nil {
			g.end()
			return nil, err
		}
	}
	if err := g.awaitIn(ctx, n); err != nil {
		g.end()
		return nil, err
	}
	return g, nil
}

// settings returns memberlist's own settings, in their ratio to the period.
func settings(name string, period time.Duration) *memberlist.Config {
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
	c.BindAddr, c.BindPort, c.AdvertisePort = "127.0.0.1", 0, 0
	return c
}

// member is the program of a member, until the member is killed.
func member(args []string) {
	f := flag.NewFlagSet(beMember, flag.ExitOnError)
	i, n := f.Int("i", 0, "number"), f.Int("n", 0, "members")
	period, name, join := f.Duration("period", 0, "of probes"), f.String("settings", "", "lan, local"), f.String("join", "", "address")
	_ = f.Parse(args)
	c := settings(*name, *period)
	c.Name, c.Logger = strconv.Itoa(*i), log.New(io.Discard, "", 0)
	c.Events = &listener{i: *i, n: *n}
	list, err := memberlist.Create(c)
	if err != nil {
		log.Fatal(err)
	}
	if *join == "" {
		fmt.Println(lineAt, list.LocalNode().Address())
	} else if _, err := list.Join([]string{*join}); err != nil {
		log.Fatal(err)
	}
	select {}
}

// A listener prints the events of a member.
type listener struct {
	i, n int
	in   atomic.Int32
}

// NotifyJoin implements memberlist.EventDelegate: a member that knows all others is in.
func (l *listener) NotifyJoin(*memberlist.Node) {
	if int(l.in.Add(1)) == l.n {
		fmt.Println(lineIn, l.i, os.Getpid())
	}
}

// NotifyLeave implements memberlist.EventDelegate: a member was declared dead.
func (l *listener) NotifyLeave(*memberlist.Node) { fmt.Println(lineKnows, nowNs()) }

// NotifyUpdate implements memberlist.EventDelegate.
func (l *listener) NotifyUpdate(*memberlist.Node) {}
