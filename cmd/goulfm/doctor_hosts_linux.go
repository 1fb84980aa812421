package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
)

// hostsAtATime are asked: sshd refuses some of more that begin together.
const hostsAtATime = 8

// examineHosts asks each host for the version of goulfm there, the way in which goulfm run would
// start its daemon.
func examineHosts(ctx context.Context, spec *launch.Spec) []finding {
	goulfm, err := os.Executable()
	if spec.Hosts.DaemonPath != "" {
		goulfm = spec.Hosts.DaemonPath
	} else if err != nil {
		return []finding{{isMissing, "hosts", err.Error(), "--daemon-path says where goulfm is"}}
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
	return all
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
