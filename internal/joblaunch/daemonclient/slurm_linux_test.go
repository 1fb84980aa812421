package daemonclient

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestSrun: one srun for all nodes, and nothing secret among its arguments.
func TestSrun(t *testing.T) {
	s := &Slurm{Goulfm: "/opt/goulfm", Nodes: []string{"n1", "n2", "gpu3"}}
	args := strings.Join(s.args("  --oom-kill-step[=0|1]"), " ")
	assert.Equal(t, "-N 3 -n 3 --ntasks-per-node=1 -w n[1-2],gpu3 --mpi=none --cpu-bind=none --kill-on-bad-exit=0 --wait=0 --no-kill --overlap --unbuffered "+
		"--oom-kill-step=0 /opt/goulfm daemon --nodes n[1-2],gpu3", args)
	assert.NotContains(t, s.args(""), "--oom-kill-step=0", "Slurm 22.05 refuses it")
}

// TestSrunEnviron: the variables of the allocation for each task do not reach srun, and those that
// name the job do.
func TestSrunEnviron(t *testing.T) {
	env := []string{"PATH=/bin", "SLURM_JOB_ID=7", "SLURM_CPUS_PER_TASK=4", "SRUN_CPUS_PER_TASK=4", "SLURM_NTASKS=9", "SLURM_JOB_NODELIST=n1", "SLURM_LABELIO=1"}
	assert.Equal(t, []string{"PATH=/bin", "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n1"}, srunEnviron(env))
	assert.Len(t, env, 7)
}

// TestWhatSrunSays: the line in which srun reports that a task has ended names the node, in pieces
// of any size; the text before gives the reason. Each node fails once.
func TestWhatSrunSays(t *testing.T) {
	synctest.Test(t, whatSrunSays)
}

func whatSrunSays(t *testing.T) {
	for _, c := range []struct {
		name, said string
		end        error
		want       []string // by node
	}{
		{"a daemon says why", "goulfm daemon: node 1 does not reach the launcher at [h:1]: refused\nsrun: error: n2: task 1: Exited with exit code 3\n", nil,
			[]string{"", "goulfm daemon: node 1 does not reach the launcher at [h:1]: refused: a firewall, or another network? --iface ADDR names the address of this machine that hosts can reach"}},
		{"no daemon says anything", "srun: error: n2: task 1: Killed\n", nil, []string{"", "Killed"}},
		{"the same of two nodes", "slurmstepd-n1: error: execve(): /no: No such file or directory\nslurmstepd-n2: error: execve(): /no: No such file or directory\nsrun: error: n1: task 0: Exited with exit code 2\n", nil,
			[]string{"slurmstepd-n1: error: execve(): /no: No such file or directory: install goulfm there at the same path, or name its path with --daemon-path", ""}},
		{"no step", "srun: error: Unable to create step for job 5: Requested node configuration is not available", errors.New("exit status 1"),
			[]string{"srun: error: Unable to create step for job 5: Requested node configuration is not available: are all hosts in this allocation? squeue --me shows which are", ""}},
		{"twice", "srun: error: n1: task 0: Killed\nsrun: error: n1: task 0: Killed\n", errors.New("exit status 137"), []string{"Killed", ""}},
		{"another name", "srun: error: n9: task 0: Killed\n", nil, []string{"Killed", ""}},
		{"why comes late", "srun: error: n2: task 1: Exited with exit code 2\nexecve(): /no: No such file or directory\n", nil,
			[]string{"", "execve(): /no: No such file or directory: install goulfm there at the same path, or name its path with --daemon-path"}},
		{"nothing", "", errors.New("exit status 1"), []string{"exit status 1", ""}},
		{"all is well", "", nil, []string{"", ""}},
		{"a line without an end", strings.Repeat("x", 3*tailMax), errors.New("exit status 1"), []string{"exit status 1", ""}},
	} {
		for _, piece := range []int{1, 7, 1 << 20} {
			got := make([]string, 2)
			s := &Slurm{Nodes: []string{"n1", "n2"}}
			for node := range got {
				s.failed = append(s.failed, func(err error) {
					assert.Empty(t, got[node], c.name)
					got[node] = err.Error()
				})
			}
			e := &srunErrors{s: s}
			for rest := c.said; rest != ""; rest = rest[min(piece, len(rest)):] {
				n, err := e.Write([]byte(rest[:min(piece, len(rest))]))
				assert.NoError(t, err)
				assert.Equal(t, min(piece, len(rest)), n)
			}
			time.Sleep(2 * lastWords) // virtual
			e.end(c.end)
			if c.name == "a line without an end" { // the kept part is bounded
				assert.Less(t, len(got[0]), 2*tailMax)
				continue
			}
			assert.Equal(t, c.want, got, "%s, %d bytes at a time", c.name, piece)
		}
	}
}

// TestAdvice: one line, the last of the output, and the remedy.
func TestAdvice(t *testing.T) {
	for said, want := range map[string]string{
		"Warning: Permanently added 'a' (ED25519) to the list of known hosts.\r\nsh: 1: /no/goulfm: not found\n": "; sh: 1: /no/goulfm: not found: install goulfm there",
		"ssh: Could not resolve hostname nosuch: Name or service not known":                                      "nosuch: Name or service not known: is the name right",
		"ssh: connect to host a port 22: Connection refused":                                                     ": does sshd run there?",
		"a@b: Permission denied (publickey).":                                                                    ": ssh must not need a question",
		"bash: /opt/goulfm: cannot execute binary file: Exec format error":                                       ": goulfm there is built for another kind of machine",
		"Host key verification failed.":                                                                          "Host key verification failed: log in there once",
		"1\n2\n3\n4\n5\n":                                                                                        "3; 4; 5",
	} {
		got := advise(said).Error()
		assert.Contains(t, got, want)
		assert.NotContains(t, got, "\n")
	}
}
