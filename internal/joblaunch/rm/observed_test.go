package rm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
)

// observed reads an environment as a task of a real engine had it: testdata/NAME.env. A line "#
// twice: A=1" stands for an entry that was set twice.
func observed(t testing.TB, name string) []string {
	text, err := os.ReadFile(filepath.Join("testdata", name+".env"))
	require.NoError(t, err)
	var env []string
	for line := range strings.Lines(string(text)) {
		env = append(env, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "# twice: "))
	}
	return env
}

func yes(int) bool { return true }
func no(int) bool  { return false }

// set returns env with entries in front, which therefore win.
func set(env []string, entries ...string) []string { return append(entries, env...) }

// unset returns env without the named variables.
func unset(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}

// text returns a claim in one line: "?" is unknown.
func text(c Claim) string {
	of := func(i, n int) string {
		return strings.ReplaceAll(fmt.Sprintf("%d/%d", i, n), "-1", "?")
	}
	line := fmt.Sprintf("%s: rank %s local %s node %s", c.Engine, of(c.Rank, c.Size), of(c.Local, c.Locals), of(c.Node, c.Nodes))
	add := func(what, text string) {
		if text != "" {
			line += " " + what + " " + text
		}
	}
	add("peers", shortRanks(c.Peers))
	add("on", hostlist.Format(c.Hosts))
	add("key", c.Key)
	add("covers", strings.Join(c.Covers, " "))
	return line
}

// hydraKVS is a kvs name in hydra's form.
const hydraKVS = "kvs_4711_0_1234567_n1"

// TestObserved: the claim of each environment that was observed on a real engine. With a PMI
// server, the second claim is the claim after the server has reported its kvsname and, at a
// PMI_PORT, rank and size.
func TestObserved(t *testing.T) {
	const one = "no engine: rank 0/1 local 0/1 node 0/1"
	type server struct {
		rank, size int
		kvsname    string
		want       string
	}
	hydra := func(rank, size int, want string) *server { return &server{rank, size, hydraKVS, want} }
	for _, c := range []struct {
		name, want string
		server     *server
	}{
		{"hydra-4.0.2-local", "PMI-1: rank 1/2 local 1/2 node 0/1",
			hydra(-1, -1, "PMI-1: rank 1/2 local 1/2 node 0/1 key pmi/"+hydraKVS)},
		{"hydra-4.0.2-pmi-port", "PMI-1: rank ?/? local 1/2 node ?/?",
			hydra(3, 4, "PMI-1: rank 3/4 local 1/2 node ?/? key pmi/"+hydraKVS)},
		{"hydra-4.0.2-ssh", "PMI-1: rank 3/4 local 1/2 node ?/?",
			hydra(-1, -1, "PMI-1: rank 3/4 local 1/2 node ?/? key pmi/"+hydraKVS)},
		{"hydra-4.2.1-local", "PMI-1: rank 1/2 local 1/2 node 0/1",
			hydra(-1, -1, "PMI-1: rank 1/2 local 1/2 node 0/1 key pmi/"+hydraKVS)},
		{"hydra-4.2.1-pmi-port", "PMI-1: rank ?/? local 1/2 node ?/?",
			hydra(1, 2, "PMI-1: rank 1/2 local 1/2 node 0/1 key pmi/"+hydraKVS)},
		{"hydra-4.2.1-ssh", "PMI-1: rank 3/4 local 1/2 node ?/?",
			hydra(3, 4, "PMI-1: rank 3/4 local 1/2 node ?/? key pmi/"+hydraKVS)},
		{"kubernetes-1.34.4-indexed-job", one, nil},
		{"openmpi-4.1.4-local", "Open MPI: rank 1/2 local 1/2 node 0/1 key pmix/3123838977", nil},
		{"openmpi-4.1.4-ssh", "Open MPI: rank 3/4 local 1/2 node ?/? key pmix/3124756481", nil},
		{"openmpi-5.0.7-local", "Open MPI: rank 1/2 local 1/2 node 0/1 key pmix/prterun-head-334@1", nil},
		{"openmpi-5.0.7-ssh", "Open MPI: rank 3/4 local 1/2 node ?/? key pmix/prterun-head-351@1", nil},
		{"slurm-22.05.8-batch-script", one, nil},
		{"slurm-22.05.8-het-step", "Slurm: rank 1/3 local 1/2 node 0/2 peers 0-1 on n[1-2] key slurm/bottle/6.0.0", nil},
		{"slurm-22.05.8-interactive-step", one, nil},
		{"slurm-22.05.8-salloc-mpiexec", "PMI-1: rank 3/4 local 0/1 node ?/? covers slurm/bottle/9.0.0/1",
			hydra(-1, -1, "PMI-1: rank 3/4 local 0/1 node ?/? key pmi/"+hydraKVS+" covers slurm/bottle/9.0.0/1")},
		{"slurm-22.05.8-salloc-mpirun", "Open MPI: rank 3/4 local 0/1 node ?/? key pmix/3152347137 covers slurm/bottle/8.0.0/1", nil},
		{"slurm-22.05.8-salloc-shell", one, nil},
		{"slurm-22.05.8-srun-cyclic", "Slurm: rank 1/7 local 0/1 node 1/3 peers 1 on n[1-3] key slurm/bottle/3.0.0", nil},
		{"slurm-22.05.8-srun-none", "Slurm: rank 1/6 local 1/4 node 0/3 peers 0-3 on n[1-3] key slurm/bottle/1.0.0", nil},
		{"slurm-22.05.8-srun-pmi2", "PMI-1: rank 1/6 local 1/4 node 0/3 peers 0-3 on n[1-3] key slurm/bottle/2.0.0 covers slurm/bottle/2.0.0/1",
			&server{-1, -1, "2.0", "PMI-1: rank 1/6 local 1/4 node 0/3 peers 0-3 on n[1-3] key slurm/bottle/2.0.0 covers slurm/bottle/2.0.0/1"}},
		{"slurm-24.11.5-batch-script", one, nil},
		{"slurm-24.11.5-het-job", "Slurm: rank 2/3 local 0/1 node 1/2 peers 2 on n[1-2] key slurm/bottle/10.0.0", nil},
		{"slurm-24.11.5-het-step", "Slurm: rank 1/3 local 1/2 node 0/2 peers 0-1 on n[1-2] key slurm/bottle/7.0.0", nil},
		{"slurm-24.11.5-interactive-step", one, nil},
		{"slurm-24.11.5-mpiexec-in-pmi2-step", "PMI-1: rank 1/2 local 1/2 node 0/1 covers slurm/bottle/8.0.0/1",
			hydra(-1, -1, "PMI-1: rank 1/2 local 1/2 node 0/1 key pmi/"+hydraKVS+" covers slurm/bottle/8.0.0/1")},
		{"slurm-24.11.5-multi-prog", "Slurm: rank 2/3 local 0/1 node 1/2 peers 2 on n[1-2] key slurm/bottle/12.0.0", nil},
		{"slurm-24.11.5-pmi2-step-in-mpiexec", "PMI-1: rank 1/4 local 0/1 node ?/? covers slurm/bottle/9.0.0/1",
			&server{-1, -1, "9.0", "PMI-1: rank 1/4 local 1/3 node 0/2 peers 0-2 on n[1-2] key slurm/bottle/9.0.0 covers slurm/bottle/9.0.0/1"}},
		{"slurm-24.11.5-requeued", "Slurm: rank 1/3 local 1/2 node 0/2 peers 0-1 on n[1-2] key slurm/bottle/7.0.1", nil},
		{"slurm-24.11.5-salloc-mpiexec", "PMI-1: rank 3/4 local 0/1 node ?/? covers slurm/bottle/10.0.0/1",
			hydra(-1, -1, "PMI-1: rank 3/4 local 0/1 node ?/? key pmi/"+hydraKVS+" covers slurm/bottle/10.0.0/1")},
		{"slurm-24.11.5-salloc-mpirun", "Open MPI: rank 3/4 local 0/1 node ?/? key pmix/prterun-head-270@1 covers slurm/bottle/9.0.0/1", nil},
		{"slurm-24.11.5-salloc-shell", one, nil},
		{"slurm-24.11.5-srun-cyclic", "Slurm: rank 1/7 local 0/1 node 1/3 peers 1 on n[1-3] key slurm/bottle/4.0.0", nil},
		{"slurm-24.11.5-srun-none", "Slurm: rank 1/6 local 1/4 node 0/3 peers 0-3 on n[1-3] key slurm/bottle/1.0.0", nil},
		{"slurm-24.11.5-srun-pmi2", "PMI-1: rank 1/6 local 1/4 node 0/3 peers 0-3 on n[1-3] key slurm/bottle/2.0.0 covers slurm/bottle/2.0.0/1",
			&server{-1, -1, "2.0", "PMI-1: rank 1/6 local 1/4 node 0/3 peers 0-3 on n[1-3] key slurm/bottle/2.0.0 covers slurm/bottle/2.0.0/1"}},
		{"slurm-24.11.5-srun-pmix", "Slurm: rank 1/6 local 1/4 node 0/3 peers 0-3 on n[1-3] key slurm/bottle/3.0.0", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := observed(t, c.name)
			claim, err := Recognise(env, yes)
			require.NoError(t, err)
			assert.Equal(t, c.want, text(claim))
			if c.server != nil {
				claim, err = claim.WithServer(c.server.rank, c.server.size, c.server.kvsname)
				require.NoError(t, err)
				assert.Equal(t, c.server.want, text(claim))
			}
			child(t, env, claim)
		})
	}
	files, err := filepath.Glob("testdata/*.env")
	require.NoError(t, err)
	assert.Len(t, files, 35, "an observed environment without a row")
}

// child checks that a program which this process starts is a world of one, and that a program
// started by that program is, too. It also checks that the mark and Spent cause this, not chance.
func child(t *testing.T, env []string, parent Claim) {
	left := unset(env, Spent(env)...)
	if m := parent.Mark(); m != "" {
		left = set(left, JoinedVariable+"="+m)
	}
	c, err := Recognise(left, no)
	require.NoError(t, err)
	assert.Equal(t, "no engine: rank 0/1 local 0/1 node 0/1", text(c))
	assert.Empty(t, c.Mark(), "a mark that would take the place of the inherited one")
	if parent.Engine == Alone {
		return
	}
	for _, name := range append(Spent(env), JoinedVariable) {
		left = unset(left, name)
	}
	if slices.ContainsFunc(left, func(e string) bool { return strings.HasPrefix(e, "SLURM_STEP_NUM_TASKS=") }) {
		c, err = Recognise(left, no)
		require.NoError(t, err)
		assert.Equal(t, Slurm, c.Engine, "without the mark it would take a place of Slurm's")
	}
}
