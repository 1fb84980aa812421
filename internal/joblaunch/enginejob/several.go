package enginejob

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/goulfm/goulfm/internal/joblaunch/rm"
)

// Environment variables of worlds on several nodes that a user may set.
const (
	secretVariable     = "GOULFM_SECRET_FILE" // a file that all nodes can read, and strangers cannot
	rendezvousVariable = "GOULFM_RENDEZVOUS"  // host:port, with commas: listening addresses of the daemon of the first node
)

// A channel is the means by which the daemons of several nodes recognise each other as of one
// start.
type channel string

// The channels. Each carries only a hash of a public key: engines' channels are authentic, and in
// clear.
const (
	byCards  channel = "cards"  // each daemon's card goes through the engine's PMI server
	byMunge  channel = "munge"  // the cluster's munged vouches for the user
	bySecret channel = "secret" // all read one file
)

// A several is a rank's knowledge of a world on several nodes.
type several struct {
	Channel channel  `json:"channel"`
	Locals  int      `json:"locals"`           // ranks of this node
	Node    int      `json:"node"`             // this one; -1: the coordinator orders them by their least ranks
	Hosts   []string `json:"hosts,omitempty"`  // by node
	Addrs   []string `json:"heads,omitempty"`  // of GOULFM_RENDEZVOUS
	Secret  string   `json:"secret,omitempty"` // the file's name
}

// severalOf returns the way in which the nodes of a claim meet, or the reason why they cannot.
func severalOf(claim *rm.Claim, look func(variable string) string, has func(program string) bool) (*several, error) {
	s := &several{Locals: claim.Locals, Node: claim.Node, Hosts: claim.Hosts, Secret: look(secretVariable)}
	if text := look(rendezvousVariable); text != "" {
		s.Addrs = strings.Split(text, ",")
	}
	switch {
	case claim.Locals < 1:
		return nil, fmt.Errorf("%s (%s): which ranks are on which node is not known: use goulfm run", claim, claim.Why)
	case claim.Locals > localsMax:
		return nil, fmt.Errorf("%s (%s): at most %d ranks on each of several nodes, with goulfm run as well", claim, claim.Why, localsMax)
	case s.Secret != "":
		s.Channel = bySecret
	case claim.Engine == rm.PMI:
		s.Channel = byCards
		return s, nil
	case claim.Engine == rm.Slurm && has("munge"):
		s.Channel = byMunge
	}
	switch {
	case s.Channel == "":
		return nil, fmt.Errorf("%s (%s): the daemons of several nodes need a way to know each other: %s", claim, claim.Why, remedies(claim.Engine))
	case len(s.Addrs) == 0 && (len(s.Hosts) == 0 || s.Node < 0):
		return nil, fmt.Errorf("%s (%s): on which host rank 0 is nothing says: set %s=HOST:PORT for all ranks, as its daemon listens there", claim, claim.Why, rendezvousVariable)
	}
	return s, nil
}

// remedies returns other ways to start a world on several nodes.
func remedies(e rm.Engine) string {
	if e == rm.Kubernetes {
		return "set " + secretVariable + " to where the pods mount one Secret, of at least 16 bytes (kubectl create secret generic, fsGroup)"
	}
	if e == rm.Slurm {
		return "srun --mpi=pmi2; or munge on all nodes; or goulfm run in place of srun, in a batch script or a shell of salloc; or " + secretVariable + ", a file of at least 16 bytes that only you can read, the same on all nodes"
	}
	return "start the program with goulfm run --host; or set " + secretVariable + ", a file of at least 16 bytes that only you can read, the same on all nodes"
}

func inPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// severalHere is severalOf in this process's environment.
func severalHere(claim *rm.Claim) (*several, error) { return severalOf(claim, os.Getenv, inPath) }

// isCoordinator reports whether the daemon of these ranks is the coordinator: the daemon of node
// 0, or of rank 0 if nodes have no numbers.
func (s *several) isCoordinator(ranks []int) bool {
	if s.Node >= 0 && s.Channel != byCards {
		return s.Node == 0
	}
	for _, rank := range ranks {
		if rank == 0 {
			return true
		}
	}
	return false
}
