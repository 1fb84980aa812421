package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/hostlist"
	"github.com/goulfm/goulfm/internal/launch"
)

// nodeFlags are those that say on which nodes a job runs.
type nodeFlags struct {
	host, file, launcher, rsh string
	ppn                       int
}

func (n *nodeFlags) register(f *flag.FlagSet, spec *launch.Spec) {
	f.StringVar(&n.host, "host", "", "")
	f.StringVar(&n.file, "hostfile", "", "")
	f.IntVar(&n.ppn, "ppn", 0, "")
	f.StringVar(&n.launcher, "launcher", "", "")
	f.StringVar(&n.rsh, "rsh", "", "")
	f.StringVar(&spec.Hosts.DaemonPath, "daemon-path", "", "")
	f.StringVar(&spec.Hosts.Iface, "iface", "", "")
	f.DurationVar(&spec.Hosts.StartTimeout, "start-timeout", 30*time.Second, "")
}

// complete fills in the nodes of a job, and its number of ranks if nobody says it.
func (n *nodeFlags) complete(f *flag.FlagSet, spec *launch.Spec) error {
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["host"] && !given["hostfile"] {
		for _, name := range []string{"ppn", "launcher", "rsh", "daemon-path", "iface"} {
			if given[name] {
				return fmt.Errorf("--%s: say with --host or --hostfile which nodes the job has", name)
			}
		}
		return nil
	}
	if n.ppn < 0 || given["ppn"] && n.ppn == 0 {
		return fmt.Errorf("--ppn %d: want 1 or more ranks of each node", n.ppn)
	}
	hosts, local, err := n.hosts(given)
	if err != nil {
		return err
	}
	if len(hosts) == 0 {
		return errors.New("--host: want 1 node or more")
	}
	spec.Hosts.Version, spec.Hosts.Rsh = version(), strings.Fields(n.rsh)
	slots := 0
	for _, h := range hosts {
		spec.Hosts.Nodes = append(spec.Hosts.Nodes, launch.Node{Name: h.Name, User: h.User, Slots: n.slots(h)})
		slots += n.slots(h)
	}
	if !given["n"] && !given["np"] {
		spec.N = slots
	}
	if spec.Hosts.Launcher = n.launcher; spec.Hosts.Launcher == "" {
		spec.Hosts.Launcher = launch.LauncherSSH
		if local || n.rsh == "" && allHere(hosts) {
			spec.Hosts.Launcher = launch.LauncherLocal
		}
	}
	return nil
}

// hosts reads what was given; local: a number of nodes on this machine.
func (n *nodeFlags) hosts(given map[string]bool) (hosts []hostlist.Host, local bool, err error) {
	if given["host"] && given["hostfile"] {
		return nil, false, errors.New("--host and --hostfile: give one of them")
	}
	if given["hostfile"] {
		text, err := os.ReadFile(n.file)
		if err != nil {
			return nil, false, fmt.Errorf("--hostfile: %w", err)
		}
		all, err := hostlist.ParseFile(string(text))
		if err != nil {
			return nil, false, fmt.Errorf("--hostfile %s: %w", n.file, err)
		}
		return all.Hosts, false, nil
	}
	all, count, err := hostlist.ParseFlag(n.host)
	if err != nil {
		return nil, false, fmt.Errorf("--host: %w", err)
	}
	for i := range count {
		all.Hosts = append(all.Hosts, hostlist.Host{Name: fmt.Sprintf("local%d", i)})
	}
	return all.Hosts, count > 0, nil
}

// slots returns how many ranks a host takes.
func (n *nodeFlags) slots(h hostlist.Host) int {
	if n.ppn > 0 {
		return n.ppn
	}
	return max(h.Slots, 1)
}

// allHere says whether all hosts are names of this machine.
func allHere(hosts []hostlist.Host) bool {
	self, _ := os.Hostname()
	for _, h := range hosts {
		ip := net.ParseIP(h.Name)
		if h.User != "" || h.Name != "localhost" && h.Name != self && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}
