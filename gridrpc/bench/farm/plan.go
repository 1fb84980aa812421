package main

import (
	"fmt"
	"strconv"
	"strings"
)

// site is an agent below the master, agents below it, and servers below each of them.
type site struct{ agents, servers int }

// layout returns the sites: AxB,CxD.
func (p plan) layout() (sites []site, err error) {
	for part := range strings.SplitSeq(p.sites, ",") {
		a, b, _ := strings.Cut(part, "x")
		agents, err := strconv.Atoi(a)
		servers, err2 := strconv.Atoi(b)
		if err != nil || err2 != nil || agents < 1 || servers < 1 {
			return nil, fmt.Errorf("--tree %s: must be AxS,AxS,...: agents of each site, and servers of each", p.sites)
		}
		sites = append(sites, site{agents, servers})
	}
	return sites, nil
}

// servers returns the number of all servers.
func (p plan) servers() (n int, err error) {
	sites, err := p.layout()
	for _, s := range sites {
		n += s.agents * s.servers
	}
	return n, err
}
