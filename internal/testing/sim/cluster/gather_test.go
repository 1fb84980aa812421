package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSpecR15R57GatheringRuns: creations from groups among all other events, on every communicator,
// with every detector.
func TestSpecR15R57GatheringRuns(t *testing.T) {
	made, failed, gaveUp := 0, 0, 0
	for s := range uint64(150) {
		o := Options{Seed: *seed + s, NMax: 10}
		w := newSimulation(o).swarm
		w.gatherings = 3
		o.like = &w
		sim := newSimulation(o)
		sim.run()
		if sim.violation != nil {
			sim.violation.Case = sim.caseOf()
			t.Fatal(sim.violation)
		}
		for key, a := range sim.check.agreements {
			if key.Series != seriesGather {
				continue
			}
			switch {
			case !sim.check.gaveUp[key].IsEmpty():
				gaveUp++
			case len(a.Decisions) == 0:
			case strings.Contains(a.Decisions[0].Text, "error none"):
				made++
			default:
				failed++
			}
		}
	}
	t.Logf("%d made, %d failed, %d given up", made, failed, gaveUp)
	if made < 100 || failed < 30 || gaveUp < 10 {
		t.Errorf("%d made, %d failed, %d given up: too tame", made, failed, gaveUp)
	}
}

// TestDiesAsARevocationAnswers: a process dies at the end of the step in which a revocation has
// answered its creation. The others have learned that the process takes no part, but its own
// program has not. The others continue without the process, although no agreement declares it dead.
func TestDiesAsARevocationAnswers(t *testing.T) {
	_, err := Run(Options{Seed: 1795550244499785676})
	assert.NoError(t, err)
}
