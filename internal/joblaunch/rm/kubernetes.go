package rm

import (
	"fmt"
	"strings"

	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
)

// kubernetes is row 6: a pod of an indexed Job whose template sets GOULFM_NODES. A pod is a node;
// its ranks are started in it. The template is written for goulfm, so a fault in the template is
// an error, not evidence to be weighed.
func (r *reading) kubernetes() {
	switch {
	case !r.has("JOB_COMPLETION_INDEX"):
	case !r.has("GOULFM_NODES"):
		r.ignore(r.show("JOB_COMPLETION_INDEX") + ": an index of its own, as GOULFM_NODES is not set")
	default:
		c, err := r.pod()
		if err != nil {
			r.wrong = err
			return
		}
		r.hold(c)
	}
}

// pod makes the claim of a pod.
func (r *reading) pod() (Claim, error) {
	nodes, okNodes := r.number("GOULFM_NODES", hostlist.HostsMax+1)
	most := nodes
	if r.has("GOULFM_NODES_MAX") { // the Job may grow to that number while the template stays
		m, ok := r.number("GOULFM_NODES_MAX", hostlist.HostsMax+1)
		most, okNodes = max(m, nodes), okNodes && ok
	}
	index, ok := r.number("JOB_COMPLETION_INDEX", most)
	switch {
	case !okNodes || nodes < 1:
		return Claim{}, unusable("%s, GOULFM_NODES_MAX=%q: numbers of pods from 1 to %d are expected", r.show("GOULFM_NODES"), r.vars["GOULFM_NODES_MAX"], hostlist.HostsMax)
	case !ok:
		return Claim{}, unusable("%s is not below %s (or GOULFM_NODES_MAX, if the Job may grow): set it to the Job's completions", r.show("JOB_COMPLETION_INDEX"), r.show("GOULFM_NODES"))
	case r.vars["GOULFM_JOB"] == "":
		return Claim{}, unusable("%s: set it to the Job's controller-uid, as pods of an earlier Job of the same name may still run", r.show("GOULFM_JOB"))
	}
	c := unknown(Kubernetes)
	c.Node, c.Nodes, c.NodesMax, c.Key = index, nodes, most, "k8s/"+key(r.vars["GOULFM_JOB"])
	c.Why = fmt.Sprintf("JOB_COMPLETION_INDEX=%d of GOULFM_NODES=%d", index, nodes)
	if most > 1 {
		hosts, err := r.pods(index, most)
		if err != nil {
			return Claim{}, err
		}
		c.Hosts = hosts
	}
	return c, nil
}

// pods returns the names of all pods of the Job, by index. A pod's host name is JOB-INDEX, and
// the headless service of the Job resolves that name below its own.
func (r *reading) pods(index, most int) ([]string, error) {
	suffix := fmt.Sprintf("-%d", index)
	job, ok := strings.CutSuffix(r.vars["HOSTNAME"], suffix)
	if !ok || job == "" {
		return nil, unusable("%s does not end in %q, as the name of a pod of an indexed Job does", r.show("HOSTNAME"), suffix)
	}
	service := r.vars["GOULFM_SERVICE"]
	own := job + suffix + "." + service
	if one, err := hostlist.Expand(own); err != nil || service == "" || one[0] != own {
		return nil, unusable("%s: set it to the name of the headless service that is the Job's subdomain", r.show("GOULFM_SERVICE"))
	}
	hosts := make([]string, most)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("%s-%d.%s", job, i, service)
	}
	return hosts, nil
}
