package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/enginejob"
	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
)

// nodeFlags are the flags that select the nodes of a job.
type nodeFlags struct {
	host, file, launcher, rsh string
	ppn                       int

	enlisted *enginejob.Enlisted // the nodes are those on which a job engine has started daemons
}

func (n *nodeFlags) register(f *flag.FlagSet, spec *launch.Spec) {
	n.registerHosts(f, spec)
	f.IntVar(&n.ppn, "ppn", 0, "")
	f.StringVar(&n.launcher, "launcher", "", "")
	f.StringVar(&spec.Hosts.Iface, "iface", "", "")
	f.DurationVar(&spec.Hosts.StartTimeout, "start-timeout", 30*time.Second, "")
	f.StringVar(&spec.Hosts.Secure, "secure", "", "")
	f.DurationVar(&spec.Hosts.Confirm, "confirm", 0, "")
	f.DurationVar(&spec.Hosts.Detection, "detection", 0, "")
	f.DurationVar(&spec.Hosts.LinkTimeout, "link-timeout", 10*time.Second, "")
	f.DurationVar(&spec.Hosts.OrphanAfter, "orphan-after", 30*time.Second, "")
	f.BoolVar(&spec.Hosts.Survive, "survive-launcher", false, "")
}

// registerHosts declares the flags that name the hosts and the means to reach them.
func (n *nodeFlags) registerHosts(f *flag.FlagSet, spec *launch.Spec) {
	f.StringVar(&n.host, "host", "", "")
	f.StringVar(&n.file, "hostfile", "", "")
	f.StringVar(&n.rsh, "rsh", "", "")
	f.StringVar(&spec.Hosts.DaemonPath, "daemon-path", "", "")
}

// completeHosts fills in the hosts that the doctor queries.
func (n *nodeFlags) completeHosts(f *flag.FlagSet, spec *launch.Spec) error {
	n.launcher = launch.LauncherSSH // so that hosts ignores an allocation
	hosts, local, err := n.hosts(givenOf(f))
	if err != nil || local {
		return err
	}
	spec.Hosts.Rsh = strings.Fields(n.rsh)
	for _, h := range hosts {
		spec.Hosts.Nodes = append(spec.Hosts.Nodes, launch.Node{Name: h.Name, User: h.User})
	}
	return nil
}

// givenOf returns the names of the flags on the command line.
func givenOf(f *flag.FlagSet) map[string]bool {
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given
}

// complete fills in the nodes of a job, and the number of ranks if the command line has none.
func (n *nodeFlags) complete(f *flag.FlagSet, spec *launch.Spec) error {
	given := givenOf(f)
	if n.ppn < 0 || given["ppn"] && n.ppn == 0 {
		return fmt.Errorf("--ppn %d: want 1 or more ranks of each node", n.ppn)
	}
	hosts, local, err := n.hosts(given)
	if err != nil {
		return err
	}
	if len(hosts) == 0 {
		return n.checkAlone(given)
	}
	if !given["period"] && !given["timeout-factor"] {
		spec.Period = 0 // by the number of nodes
	} else if !given["timeout-factor"] {
		spec.Factor = nodeFactor
	}
	spec.Hosts.Rsh = strings.Fields(n.rsh)
	if n.enlisted != nil {
		n.launcher, spec.Hosts.Starter, spec.Hosts.Iface = launch.LauncherEngine, n.enlisted.Starter, n.enlisted.Iface
		spec.Hosts.Late = n.enlisted.Late
	}
	if byEngine := n.enlisted != nil || n.launcher == launch.LauncherSlurm; byEngine && !given["grace"] {
		spec.Grace = 0
	}
	slots := 0
	for _, h := range hosts {
		spec.Hosts.Nodes = append(spec.Hosts.Nodes, launch.Node{Name: h.Name, User: h.User, Slots: n.slots(h), Rack: h.Rack})
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

// nodeFactor is the default number of periods without a heartbeat before a node is suspected.
const nodeFactor = 5

// checkAlone refuses flags that only a job on several nodes has.
func (n *nodeFlags) checkAlone(given map[string]bool) error {
	if given["host"] || given["hostfile"] {
		return errors.New("--host: want 1 node or more")
	}
	if n.launcher == launch.LauncherSlurm {
		return errors.New("--launcher slurm: this is no batch script and no shell of salloc: start it in one, or name nodes of an allocation with --host")
	}
	for _, name := range []string{"ppn", "launcher", "rsh", "daemon-path", "iface", "secure", "confirm", "detection", "link-timeout", "orphan-after", "survive-launcher"} {
		if given[name] && n.launcher != launch.LauncherLocal {
			return fmt.Errorf("--%s: name the nodes of the job with --host or --hostfile", name)
		}
	}
	return nil
}

// hostFlags select and reach the nodes. Below a job engine they are errors.
var hostFlags = []string{"host", "hostfile", "launcher", "rsh", "daemon-path", "iface"}

// hosts returns the hosts of the flags, of the daemons of an engine, or of an allocation of Slurm.
// local reports that --host is a number of nodes on this machine.
func (n *nodeFlags) hosts(given map[string]bool) (hosts []hostlist.Host, local bool, err error) {
	if given["host"] && given["hostfile"] {
		return nil, false, errors.New("--host and --hostfile: give one of them")
	}
	if n.enlisted != nil {
		for _, name := range hostFlags {
			if given[name] {
				return nil, false, fmt.Errorf("--%s: a job engine has started the daemons: the nodes are theirs", name)
			}
		}
		for _, name := range n.enlisted.Names {
			hosts = append(hosts, hostlist.Host{Name: name})
		}
		return hosts, false, nil
	}
	if !given["host"] && !given["hostfile"] {
		hosts, err := n.allocation()
		return hosts, false, err
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

// allocation returns the nodes of the allocation of this process. srun can start daemons there.
func (n *nodeFlags) allocation() ([]hostlist.Host, error) {
	if n.launcher != "" && n.launcher != launch.LauncherSlurm {
		return nil, nil
	}
	hosts, err := rm.Allocation(os.Environ())
	if len(hosts) > 0 {
		n.launcher = launch.LauncherSlurm
	}
	return hosts, err
}

// slots returns the number of ranks for a host.
func (n *nodeFlags) slots(h hostlist.Host) int {
	if n.ppn > 0 {
		return n.ppn
	}
	if n.enlisted != nil {
		return coresHere()
	}
	return max(h.Slots, 1)
}

// allHere reports whether all hosts are names of this machine.
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
