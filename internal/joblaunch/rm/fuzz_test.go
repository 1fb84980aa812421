package rm

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
)

// FuzzRecognise: whatever an environment holds, a claim has numbers that fit together, an error
// wraps ErrEvidence, and a child of the process takes nobody's place.
func FuzzRecognise(f *testing.F) {
	for _, name := range []string{srun, srunPMI, mpirun, hydra, "hydra-4.2.1-pmi-port", "slurm-24.11.5-pmi2-step-in-mpiexec", "slurm-24.11.5-requeued"} {
		var env []string
		for _, e := range observed(f, name) {
			if spent(strings.SplitN(e, "=", 2)[0]) || strings.HasPrefix(e, "SLURM_") {
				env = append(env, e)
			}
		}
		f.Add(strings.Join(env, "\n"), true, "2.0", 1, 6)
		f.Add(strings.Join(env, "\n"), false, hydraKVS, -1, -1)
	}
	f.Add("JOB_COMPLETION_INDEX=1\nGOULFM_NODES=4\nGOULFM_JOB=u\nGOULFM_SERVICE=s\nHOSTNAME=h-1\nGOULFM_NODES_MAX=9", false, "", 0, 0)
	f.Add("GOULFM_BOOT={}\nSLURM_PROCID=0\nGOULFM_JOINED=a/1\nGOULFM_ALONE=1", false, "", 0, 0)
	f.Fuzz(func(t *testing.T, text string, live bool, kvs string, rank, size int) {
		env := strings.Split(text, "\n")
		socket := func(int) bool { return live }
		c, err := Recognise(env, socket)
		again, errAgain := Recognise(slices.Clone(env), socket)
		require.Equal(t, c, again)
		require.Equal(t, err == nil, errAgain == nil)
		if err == nil {
			checkClaim(t, c)
			if c, err = c.WithServer(rank, size, kvs); err == nil {
				checkClaim(t, c)
				checkChild(t, env, c)
			}
		}
		if err != nil {
			require.ErrorIs(t, err, ErrEvidence)
		}
	})
}

func checkClaim(t *testing.T, c Claim) {
	for _, p := range [][2]int{{c.Rank, c.Size}, {c.Local, c.Locals}} {
		require.True(t, p[0] >= Unknown && (p[1] == Unknown || 0 < p[1] && p[1] <= RanksMax && p[0] < p[1]), "%+v", c)
	}
	require.True(t, c.Node >= Unknown && c.Nodes <= hostlist.HostsMax || c.Engine == Slurm || c.Engine == PMI, "%+v", c)
	require.LessOrEqual(t, len(c.Hosts), hostlist.HostsMax)
	require.True(t, c.Peers == nil || len(c.Peers) == c.Locals && slices.Contains(c.Peers, c.Rank), "%+v", c)
	require.False(t, strings.ContainsAny(c.Key+c.Mark(), "\n\t\x00\x1b"), "%q", c.Key)
	for _, line := range Explain(c) {
		require.NotEmpty(t, line)
	}
}

// checkChild: with the variables that Spent and Mark leave, a child makes no claim.
func checkChild(t *testing.T, env []string, parent Claim) {
	left := unset(env, Spent(env)...)
	if m := parent.Mark(); m != "" {
		left = set(left, JoinedVariable+"="+m)
	}
	child, err := Recognise(left, no)
	if err == nil && child.Engine != Goulfm {
		require.Equal(t, Alone, child.Engine, "%+v of %+v", child, parent)
	}
}
