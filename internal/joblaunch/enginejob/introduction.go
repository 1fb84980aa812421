package enginejob

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/buildid"
)

// An introduction is a daemon's message to the coordinator with the ranks of its node. The answer
// is a daemonproto.Bootstrap, once all nodes have come. The fields build and ranks keep their
// names in all builds (package layout).
type introduction struct {
	Build   uint32 `json:"build"` // buildid.Build
	Key     string `json:"key"`
	Size    int    `json:"size"`
	Node    int    `json:"node"` // -1: by the least rank
	Host    string `json:"host"`
	Ranks   []int  `json:"ranks"`
	Standby bool   `json:"beside,omitempty"` // it knows that it is on standby, and waits for the end of the job
	Birth   uint64 `json:"birth"`            // of the daemon: a daemon that replaces another one has another birth
	Why     string `json:"why,omitempty"`    // the reason why the start has failed there
}

// line returns the encoded introduction.
func (in introduction) line() []byte {
	line, err := json.Marshal(in)
	if err != nil {
		panic(err) // numbers and strings always marshal
	}
	return line
}

// A register has the rules of the coordinator about the nodes that have come: the world is
// complete when each rank is with one of them.
type register struct {
	key   string
	nodes []introduction
	at    []int // by rank: the index of its introduction, or nobody
	come  int   // ranks

	areNodes bool // claims call nodes ranks: see enlist
}

func newRegister(key string, size int) *register {
	return &register{key: key, at: slices.Repeat([]int{nobody}, size)}
}

// enter records a node, as introduction i. A node may come again if the connection on which it
// waited for its answer was lost.
func (r *register) enter(in introduction) (i int, err error) {
	if i := slices.IndexFunc(r.nodes, in.isOf); i >= 0 && in.Why == "" {
		return i, nil
	}
	if err := r.check(in); err != nil {
		return nobody, err
	}
	for _, rank := range in.Ranks {
		r.at[rank] = len(r.nodes)
	}
	r.nodes = append(r.nodes, in)
	r.come += len(in.Ranks)
	return len(r.nodes) - 1, nil
}

// isStandby reports whether the world has begun and has no place for this daemon: another daemon
// had the place, or there was none.
func (r *register) isStandby(in introduction) bool {
	if !r.areNodes || in.Build != buildid.Build || in.Key != r.key || in.Why != "" || len(in.Ranks) != 1 || in.Ranks[0] < 0 {
		return false
	}
	node := in.Ranks[0]
	return node >= len(r.at) || r.isComplete() && r.nodes[r.at[node]].Birth != in.Birth
}

// isComplete reports whether all ranks have come.
func (r *register) isComplete() bool { return r.come == len(r.at) }

// isOf reports whether two introductions are of one daemon.
func (in introduction) isOf(other introduction) bool {
	return in.Key == other.Key && in.Host == other.Host && in.Node == other.Node && in.Size == other.Size && slices.Equal(in.Ranks, other.Ranks)
}

// check returns the reason why a node does not fit, or nil.
func (r *register) check(in introduction) error {
	switch {
	case in.Build != buildid.Build:
		return buildid.Another(r.name(in))
	case in.Key != r.key || in.Size != len(r.at):
		return fmt.Errorf("%s has ranks of another start: %d of %q, here %d of %q", in.Host, in.Size, in.Key, len(r.at), r.key)
	case in.Why != "":
		return fmt.Errorf("%s: %s", in.Host, in.Why)
	case len(in.Ranks) == 0:
		return fmt.Errorf("%s has no ranks", in.Host)
	}
	for i, rank := range in.Ranks {
		if rank < 0 || rank >= len(r.at) || i > 0 && rank <= in.Ranks[i-1] {
			return fmt.Errorf("%s: ranks %v of %d", in.Host, in.Ranks, len(r.at))
		}
		if other := r.at[rank]; other != nobody {
			return fmt.Errorf("rank %d is on %s and on %s", rank, r.nodes[other].Host, in.Host)
		}
	}
	return nil
}

// name names the first rank of an introduction, or its node if areNodes is set.
func (r *register) name(in introduction) string {
	kind, number := "rank", 0
	if r.areNodes {
		kind = "node"
	}
	if len(in.Ranks) > 0 {
		number = in.Ranks[0]
	}
	return fmt.Sprintf("%s %d", kind, number)
}

// order returns the nodes, as indices of introductions, ordered by their numbers and then by
// their least ranks. It also returns the node of each rank in that order.
func (r *register) order() (nodes, of []int) {
	for i := range r.nodes {
		nodes = append(nodes, i)
	}
	slices.SortFunc(nodes, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.nodes[a].Node, r.nodes[b].Node), cmp.Compare(r.nodes[a].Ranks[0], r.nodes[b].Ranks[0]))
	})
	for _, i := range r.at {
		of = append(of, slices.Index(nodes, i))
	}
	return nodes, of
}

// whoIsMissing returns the reason why a world did not start in time.
func (r *register) whoIsMissing(after string) string {
	if r.areNodes {
		return fmt.Sprintf("%d of %d nodes after %s; missing: %s (goulfm daemon --start-timeout gives them longer)",
			r.come, len(r.at), after, listMissing(r.at))
	}
	return fmt.Sprintf("%d of %d ranks after %s; missing, with their nodes: %s (%s gives them longer)",
		r.come, len(r.at), after, listMissing(r.at), timeoutVariable)
}

// decodeIntroduction reads an introduction. From another build it reads only the fields that all
// builds share.
func decodeIntroduction(line []byte) (in introduction, err error) {
	if stamp, err := buildid.Read(line); err == nil && !stamp.IsOurs() {
		_ = json.Unmarshal(line, &in) // fields of other types are left out
		return introduction{Build: stamp.Build, Ranks: in.Ranks[:min(len(in.Ranks), 1)]}, nil
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return in, fmt.Errorf("%w: %w", errMessage, err)
	}
	if len(in.Ranks) > localsMax || len(in.Host) > hostMax || len(in.Key) > keyMax || len(in.Why) > whyMax {
		return in, fmt.Errorf("%w: %d ranks, %d bytes of names", errMessage, len(in.Ranks), len(in.Host)+len(in.Key)+len(in.Why))
	}
	return in, nil
}
