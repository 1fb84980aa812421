package rm

import (
	"fmt"
	"strings"

	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
)

// String returns a claim in a line, such as "64 ranks on 4 nodes by PMI-1 (Slurm step 123.0)".
func (c Claim) String() string {
	by := c.Engine.String()
	if c.engine != "" && c.Engine == PMI {
		by += " (" + c.engine + ")"
	} else if c.engine != "" {
		by = c.engine
	}
	switch {
	case c.Engine == Alone:
		return "a world of one"
	case c.Engine == Goulfm:
		return "ranks by " + by
	case c.Engine == Kubernetes:
		return fmt.Sprintf("%s by %s", count(c.Nodes, "node"), by)
	case c.Size == Unknown:
		return "ranks by " + by + ", whose server says how many"
	case c.Nodes == Unknown:
		return fmt.Sprintf("%s by %s", count(c.Size, "rank"), by)
	}
	return fmt.Sprintf("%s on %s by %s", count(c.Size, "rank"), count(c.Nodes, "node"), by)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Explain returns lines with a claim and its evidence, which show a user why a program runs as it
// does.
func Explain(c Claim) []string {
	lines := []string{"this process: " + c.String(), "decided by: " + c.Why}
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, what+": "+text)
		}
	}
	add("place", c.where())
	add("ranks on this node", shortRanks(c.Peers))
	add("nodes", hostlist.Format(c.Hosts))
	add("key", c.Key)
	for _, i := range c.Ignored {
		add("ignored", i)
	}
	add("survivors", c.survivors())
	return lines
}

// where returns the position of the process, as far as it is known.
func (c Claim) where() string {
	var parts []string
	add := func(what string, i, n int) {
		if i != Unknown && n != Unknown {
			parts = append(parts, fmt.Sprintf("%s %d of %d", what, i, n))
		}
	}
	if c.Engine != Alone {
		add("rank", c.Rank, c.Size)
		add("process", c.Local, c.Locals)
		add("node", c.Node, c.Nodes)
	}
	return strings.Join(parts, ", ")
}

// survivors describes the engine's treatment of the other ranks when a rank dies, and the flags
// that keep them.
func (c Claim) survivors() string {
	switch {
	case c.Engine == Slurm || c.Engine == PMI && c.step != nil && c.engine == c.step.engine:
		return "go on with srun's defaults (--kill-on-bad-exit=0 --wait=0); --no-kill keeps them also when a node is lost"
	case c.Engine == PMI:
		return "mpiexec -disable-auto-cleanup keeps them, but a rank that is killed by a signal always takes the others of its node along"
	case c.Engine == OpenMPI:
		return "mpirun ends them all, unless it has --enable-recovery"
	case c.Engine == Kubernetes:
		return "a pod that fails is replaced by one of the same index"
	}
	return ""
}

// Caveat returns the warning about the engine's treatment of survivors that a user needs from the
// start, as a text behind String; "" if the engine's own defaults keep them.
func (c Claim) Caveat() string {
	if c.Engine != PMI || c.step != nil && c.engine == c.step.engine {
		return ""
	}
	return fmt.Sprintf("; hydra ends all ranks of a node when a signal kills one: mpiexec -n 1 goulfm run -n %d PROGRAM survives that", c.Size)
}

// shortRanks writes ranks short, such as 0-3,7.
func shortRanks(ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		end := i + 1
		for end < len(ranks) && ranks[end] == ranks[i]+end-i {
			end++
		}
		part := fmt.Sprint(ranks[i])
		if end > i+1 {
			part += fmt.Sprintf("-%d", ranks[end-1])
		}
		parts = append(parts, part)
		i = end
	}
	return strings.Join(parts, ",")
}
