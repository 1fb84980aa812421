package enginejob

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClaimsThatCannotBeMet: rank 0 gives the reason, and the others refer to another rank.
func TestClaimsThatCannotBeMet(t *testing.T) {
	for _, c := range []rm.Claim{
		{Engine: rm.Slurm, Size: 4, Locals: rm.Unknown, Nodes: rm.Unknown}, {Engine: rm.Slurm, Size: 400, Locals: localsMax + 1, Nodes: 2}, {Engine: rm.Slurm, Size: 4, Locals: 2, Nodes: 2}, {Engine: rm.OpenMPI, Size: 4, Locals: 2, Nodes: rm.Unknown},
		{Engine: rm.Kubernetes, Size: rm.Unknown, Locals: rm.Unknown, Nodes: 1}, {Engine: rm.Slurm, Size: ranksMax + 1, Locals: ranksMax + 1, Nodes: 1},
	} {
		for rank := range 2 {
			c.Rank = rank
			var f *Failure
			_, err := check(&c, nowhere)
			require.ErrorAs(t, err, &f, "%+v", c)
			assert.Equal(t, rank > 0, f.Elsewhere)
			assert.Contains(t, f.Why, "goulfm run")
			assert.Equal(t, rank == 0, strings.Contains(f.Error(), f.Why))
		}
	}
	c := rm.Claim{Engine: rm.Slurm, Size: 4, Locals: rm.Unknown, Nodes: 1} // SLURM_GTIDS is not set
	_, err := check(&c, nowhere)
	assert.NoError(t, err)
}

// nowhere is severalHere without any variable, and without munge.
func nowhere(c *rm.Claim) (*several, error) {
	return severalOf(c, func(string) string { return "" }, func(string) bool { return false })
}

// TestChannels: the means by which the daemons of several nodes recognise each other.
func TestChannels(t *testing.T) {
	hosts := []string{"n1", "n2"}
	slurm := rm.Claim{Engine: rm.Slurm, Size: 4, Locals: 2, Node: 1, Nodes: 2, Hosts: hosts}
	server := rm.Claim{Engine: rm.PMI, Size: 4, Locals: 2, Node: rm.Unknown, Nodes: rm.Unknown}
	openmpi := server
	openmpi.Engine = rm.OpenMPI
	for _, c := range []struct {
		name                string
		claim               rm.Claim
		secret, addrs, want string
		munge               bool
	}{
		{"Slurm's munge", slurm, "", "", "munge", true},
		{"a file is what somebody wants", slurm, "/f", "", "secret", true},
		{"PMI needs nothing", server, "", "", "cards", false},
		{"nothing says where rank 0 is", openmpi, "/f", "", "on which host rank 0 is nothing says", false},
		{"but this", openmpi, "/f", "n1:5000", "secret", false},
		{"no channel", slurm, "", "", "srun --mpi=pmi2; or munge", false},
	} {
		env := map[string]string{secretVariable: c.secret, rendezvousVariable: c.addrs}
		s, err := severalOf(&c.claim, func(name string) string { return env[name] }, func(string) bool { return c.munge })
		if err != nil {
			assert.Contains(t, err.Error(), c.want, c.name)
			continue
		}
		assert.Equal(t, c.want, string(s.Channel), c.name)
	}
}

// TestRegister: when the world is complete, which nodes there are, and which introductions do not
// fit.
func TestRegister(t *testing.T) {
	r := newRegister("k", 4)
	in := func(host string, node int, ranks ...int) introduction {
		return introduction{Build: buildid.Build, Key: "k", Size: 4, Node: node, Host: host, Ranks: ranks}
	}
	i, err := r.enter(in("b", -1, 1, 3))
	require.NoError(t, err)
	assert.Zero(t, i)
	assert.False(t, r.isComplete())
	again, err := r.enter(in("b", -1, 1, 3))
	require.NoError(t, err)
	assert.Zero(t, again, "it asks once more")
	assert.Equal(t, "2 of 4 ranks after 1m0s; missing, with their nodes: 0, 2 (GOULFM_START_TIMEOUT gives them longer)", r.whoIsMissing("1m0s"))
	r.areNodes = true
	assert.Equal(t, "2 of 4 nodes after 1m0s; missing: 0, 2 (goulfm daemon --start-timeout gives them longer)", r.whoIsMissing("1m0s"))
	r.areNodes = false
	other := in("c", -1, 0)
	other.Key = "j"
	for _, bad := range []introduction{in("c", -1), in("c", -1, 4), in("c", -1, 2, 0), in("c", -1, 3), {Build: buildid.Build, Host: "c"}, other, {Build: buildid.Build, Key: "k", Size: 4, Host: "c", Why: "no memory"}} {
		_, err := r.enter(bad)
		assert.ErrorContains(t, err, "c", "%+v", bad)
	}
	i, err = r.enter(in("a", -1, 0, 2))
	require.NoError(t, err)
	assert.Equal(t, 1, i)
	assert.True(t, r.isComplete())
	nodes, of := r.order()
	assert.Equal(t, []int{1, 0}, nodes, "by the least rank")
	assert.Equal(t, []int{0, 1, 0, 1}, of)
	r = newRegister("k", 4)
	_, _ = r.enter(in("b", 1, 0, 1))
	_, _ = r.enter(in("a", 0, 2, 3))
	_, of = r.order()
	assert.Equal(t, []int{1, 1, 0, 0}, of, "by their numbers")
}

// TestStandby: a daemon without a place in a world that has begun is recognised by its birth.
func TestStandby(t *testing.T) {
	r := newRegister("k", 2)
	in := func(node int, birth uint64) introduction {
		return introduction{Build: buildid.Build, Key: "k", Size: 2, Node: node, Host: "heat", Ranks: []int{node}, Birth: birth}
	}
	_, err := r.enter(in(0, 1))
	require.NoError(t, err)
	assert.False(t, r.isStandby(in(1, 2)))
	r.areNodes = true
	assert.False(t, r.isStandby(in(1, 2)), "the world has not begun")
	assert.True(t, r.isStandby(in(2, 3)), "it has two nodes")
	_, err = r.enter(in(1, 2))
	require.NoError(t, err)
	assert.False(t, r.isStandby(in(1, 2)), "it asks once more")
	assert.True(t, r.isStandby(in(1, 4)))
	other := in(1, 4)
	other.Key = "j"
	assert.False(t, r.isStandby(other))
	assert.False(t, r.isStandby(introduction{Build: buildid.Build, Key: "k", Size: 2, Ranks: []int{-1}}))
}

// TestTimeouts reads GOULFM_START_TIMEOUT and GOULFM_GRACE.
func TestTimeouts(t *testing.T) {
	for text, want := range map[string]time.Duration{"": grace, "2m": 2 * time.Minute, "45": 45 * time.Second} {
		got, err := graceOf(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := graceOf("-1s")
	assert.EqualError(t, err, `environment variable GOULFM_GRACE: "-1s": want the pod's terminationGracePeriodSeconds, as 30 or 30s, up to a day`)
	for text, want := range map[string]time.Duration{"": startTimeout, "90s": 90 * time.Second, "5": 5 * time.Second, "1m30s": 90 * time.Second} {
		got, err := timeoutOf(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"x", "0", "-1s", "1000h"} {
		_, err := timeoutOf(text)
		assert.ErrorContains(t, err, timeoutVariable)
	}
}

// TestPlaces: other users, starts and nodes have other places.
func TestPlaces(t *testing.T) {
	c := rm.Claim{Engine: rm.Slurm, Key: "slurm/c/1.0.0"}
	other, node := c, c
	other.Key, node.Node = "slurm/c/1.0.1", 1
	byServer := c
	byServer.Engine = rm.PMI
	assert.Equal(t, placeOf(1, &c), placeOf(1, &byServer), "the next program of a task finds no server any more")
	places := map[string]bool{placeOf(1, &c): true, placeOf(2, &c): true, placeOf(1, &other): true, placeOf(1, &node): true}
	assert.Len(t, places, 4)
	assert.Regexp(t, "^@goulfm-[0-9a-f]{24}$", placeOf(1, &c))
}

// TestAnIdentityIsUsedUp: after Init no variable in the environment leads to the same claim
// again, in any of the observed environments.
func TestAnIdentityIsUsedUp(t *testing.T) {
	paths, err := filepath.Glob("../rm/testdata/*.env")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	used := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		env := strings.Split(strings.TrimSpace(string(text)), "\n")
		c, err := rm.Recognise(env, somebody)
		if err != nil || c.Engine == rm.Alone {
			continue
		}
		used++
		within(t, env, func() {
			leave(&c)
			again, err := rm.Recognise(os.Environ(), somebody)
			require.NoError(t, err, path)
			assert.Equal(t, rm.Alone, again.Engine, path)
			_, ok := os.LookupEnv("SLURM_JOB_ID")
			assert.Equal(t, strings.Contains(string(text), "SLURM_JOB_ID="), ok, "a child may call srun")
		})
	}
	assert.Positive(t, used)
}

// somebody reports a peer at the other end of each socket.
func somebody(int) bool { return true }

// within calls f with another environment, and restores this one.
func within(t *testing.T, env []string, f func()) {
	t.Helper()
	mine := os.Environ()
	defer func() { set(t, mine) }()
	set(t, env)
	f()
}

func set(t *testing.T, env []string) {
	t.Helper()
	os.Clearenv()
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
}
