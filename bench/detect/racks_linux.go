package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/figure"
	"github.com/goulfm/goulfm/internal/testing/harness/machine"
)

// racks is D10: nodes of one rack of two are lost at one moment, up to the whole rack. The nodes
// are neighbours in the host file. The host file names the racks in every second run, so that the
// load of the machine is the same for both (PARCO 2019, section 5.6; RR-9024, slide 32).
func (b *bench) racks(ctx context.Context) (*figure.Figure, error) {
	n := b.sizes([]int{8}, []int{4})[0]
	f := &figure.Figure{ID: "D10", Title: fmt.Sprintf("D10: from the loss of nodes of one rack of %d until all know all, P = 100 ms, T = 5P, C = T/2", n/2), XLabel: "nodes that are lost at once", YLabel: "ms"}
	f.State("P + T + C + P/10", []float64{1, float64(n / 2)}, []float64{860, 860})
	hosts, err := b.writeHosts(n)
	if err != nil {
		return nil, err
	}
	runs := b.runsOr(10, 1)
	for _, how := range []string{faultStop, faultKill} {
		verb := map[string]string{faultStop: "stopped", faultKill: "killed"}[how]
		var curves [2]*figure.Curve
		for i, order := range []string{"without racks", "with racks"} {
			curves[i] = f.Add(verb+", "+order, false)
		}
		bad := 0
		for _, k := range rackSteps(n / 2) {
			for run := range 2 * runs {
				s := standard
				s.hosts = hosts[run%2]
				delays, wrong, err := b.repeat(ctx, s, 1, func(int) fault { return fault{nodes: n, how: how, victims: lastOfRack(n, k)} })
				if err != nil {
					return nil, err
				}
				for _, d := range delays {
					curves[run%2].At(float64(k), d.all)
				}
				bad += wrong
			}
			say("D10, %d of %d nodes %s: done", k, n, verb)
		}
		paper := "" // waits for silence alone
		if how == faultStop {
			paper = "in a row linear in timeouts (fig. 15); neighbours should not fail together (section 5.6)"
		}
		for _, c := range curves {
			f.Row(fmt.Sprintf("two racks of %d nodes, %s, all know, ms (medians of %d)", n/2, c.Name, runs), paper,
				"%s; worst %s; %s", lostAt(f.MedianOf(c)), worstOf(c), machine.Processor())
		}
		if bad > 0 {
			f.Row(verb+": runs in which another node was declared", "", "%d", bad)
		}
	}
	return f, nil
}

// writeHosts writes a host file of n nodes of this machine without racks, and one with two racks of
// neighbours.
func (b *bench) writeHosts(n int) (files [2]string, err error) {
	for i := range files {
		var text strings.Builder
		for node := range n {
			fmt.Fprintf(&text, "local%d", node)
			if i == 1 {
				fmt.Fprintf(&text, " rack=r%d", node/(n/2))
			}
			text.WriteByte('\n')
		}
		files[i] = filepath.Join(b.dir, fmt.Sprintf("hosts.%d", i))
		if err := os.WriteFile(files[i], []byte(text.String()), 0o600); err != nil {
			return files, err
		}
	}
	return files, nil
}

// rackSteps returns how many nodes of a rack are lost: 1, 2, 4 and so on, and all.
func rackSteps(size int) (steps []int) {
	for k := 1; k < size; k *= 2 {
		steps = append(steps, k)
	}
	return append(steps, size)
}

// lastOfRack returns the last k of n nodes, which are in the second rack.
func lastOfRack(n, k int) (victims []int) {
	for v := n - k; v < n; v++ {
		victims = append(victims, v)
	}
	return victims
}

// lostAt lists the points of a curve over lost nodes.
func lostAt(c *figure.Curve) string {
	var points []string
	for i := range c.X {
		points = append(points, fmt.Sprintf("%.0f (f %g)", c.Y[i], c.X[i]))
	}
	return strings.Join(slices.Clip(points), ", ")
}
