package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
)

// hostsAtATime limits the hosts that are queried at a time: sshd refuses some of the connections if
// more of them begin together.
const hostsAtATime = 8

// examineHosts queries the version of goulfm on each host, in the way in which goulfm run would
// start a daemon there.
func examineHosts(ctx context.Context, spec *launch.Spec) []finding {
	goulfm, err := os.Executable()
	if spec.Hosts.DaemonPath != "" {
		goulfm = spec.Hosts.DaemonPath
	} else if err != nil {
		return []finding{{isMissing, "hosts", err.Error(), "--daemon-path names the path of goulfm"}}
	}
	all := make([]finding, len(spec.Hosts.Nodes))
	places := make(chan struct{}, hostsAtATime)
	var asked sync.WaitGroup
	for i, n := range spec.Hosts.Nodes {
		asked.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			all[i] = examineHost(ctx, daemonclient.Remote{Goulfm: goulfm, Rsh: spec.Hosts.Rsh, Users: []string{n.User}}, n.Name)
		})
	}
	asked.Wait()
	if slices.ContainsFunc(all, func(f finding) bool { return f.grade != isWell }) {
		return all // the findings on these hosts come first
	}
	return append(all, examinePairs(ctx, spec, goulfm)...)
}

// openPorts is the remedy of a blocked direction.
const openPorts = "a firewall? Jobs need all TCP and UDP ports between hosts: allow them, or name hosts by addresses of an open network"

// examinePairs checks the connections from each host to this machine and to each other host.
func examinePairs(ctx context.Context, spec *launch.Spec, goulfm string) []finding {
	var hosts []daemonclient.ReachHost
	for _, n := range spec.Hosts.Nodes {
		hosts = append(hosts, daemonclient.ReachHost{Name: n.Name, Way: daemonclient.Remote{Goulfm: goulfm, Rsh: spec.Hosts.Rsh, Users: []string{n.User}}})
	}
	if len(hosts) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*doctorFor)
	defer cancel()
	blocked, err := daemonclient.Reach(ctx, hosts)
	if err != nil {
		return []finding{{isMissing, "connections", err.Error(), "see goulfm doctor there"}}
	}
	if len(blocked) == 0 {
		return []finding{well("connections", "each host reaches this machine and every other host by TCP")}
	}
	var all []finding
	for _, b := range blocked {
		all = append(all, blockedFinding(b, blocked))
	}
	return all
}

// blockedFinding returns the finding about a blocked direction. A job needs one direction of each
// pair of hosts, and the direction from each host to the launcher.
func blockedFinding(b daemonclient.Blocked, all []daemonclient.Blocked) finding {
	if b.To == "" {
		return finding{isMissing, "connections", fmt.Sprintf("host %s does not reach this machine: %s", b.From, b.Why), "a firewall, or another network? goulfm run --iface ADDR names the address of this machine that hosts reach"}
	}
	text := fmt.Sprintf("host %s does not reach host %s at %s: %s", b.From, b.To, b.Addr, b.Why)
	if slices.ContainsFunc(all, func(o daemonclient.Blocked) bool { return o.From == b.To && o.To == b.From }) {
		return finding{isMissing, "connections", text, openPorts}
	}
	return finding{isSlow, "connections", text + fmt.Sprintf("; %s reaches %s, which suffices", b.To, b.From), openPorts}
}

// runPeer serves a doctor on another host.
func runPeer(ctx context.Context, heads []string) {
	daemonclient.RunPeer(ctx, os.Stdin, os.Stdout, heads)
}

func examineHost(ctx context.Context, way daemonclient.Remote, host string) finding {
	what := "host " + host
	ctx, cancel := context.WithTimeout(ctx, doctorFor)
	defer cancel()
	there, err := way.Version(ctx, host)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return finding{isMissing, what, fmt.Sprintf("no answer within %s", doctorFor), "is the host up, and may this machine reach it?"}
	case err != nil:
		return finding{isMissing, what, err.Error(), ""}
	case !strings.Contains(there, ownBuild()):
		return finding{isMissing, what, fmt.Sprintf("has %s, and this is %s", there, version()), "install the same one there"}
	}
	return well(what, "is reached without a question, and has this build of goulfm")
}
