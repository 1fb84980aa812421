package rm

import (
	"testing"

	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAllocation: a job starts in a whole allocation from a batch script or a shell, and never
// from a task, which keeps its own part.
func TestAllocation(t *testing.T) {
	two := []hostlist.Host{{Name: "n1", Slots: 3}, {Name: "n2", Slots: 1}}
	for name, want := range map[string][]hostlist.Host{
		"slurm-24.11.5-batch-script": two, "slurm-24.11.5-interactive-step": two, "slurm-24.11.5-salloc-shell": two,
		srun: nil, srunPMI: nil, mpirun: nil, "slurm-24.11.5-salloc-mpiexec": nil, hydra: nil, pod: nil,
	} {
		hosts, err := Allocation(observed(t, name))
		require.NoError(t, err)
		assert.Equal(t, want, hosts, name)
	}
	batch := observed(t, "slurm-24.11.5-batch-script")
	for _, c := range []struct {
		change string
		want   []hostlist.Host
	}{
		{"SLURM_JOB_NODELIST=n1", nil}, // the script runs there
		{"SLURM_JOB_NODELIST=n7", []hostlist.Host{{Name: "n7"}}},
		{"SLURM_TASKS_PER_NODE=4(x2)", []hostlist.Host{{Name: "n1", Slots: 4}, {Name: "n2", Slots: 4}}},
		{"SLURM_TASKS_PER_NODE=4(x3)", []hostlist.Host{{Name: "n1"}, {Name: "n2"}}},
		{"SLURM_TASKS_PER_NODE=", []hostlist.Host{{Name: "n1"}, {Name: "n2"}}},
	} {
		hosts, err := Allocation(set(batch, c.change))
		require.NoError(t, err)
		assert.Equal(t, c.want, hosts, c.change)
	}
	_, err := Allocation(set(batch, "SLURM_HET_SIZE=2"))
	require.ErrorIs(t, err, ErrEvidence)
	assert.ErrorContains(t, err, "SLURM_HET_SIZE=2, and goulfm run starts a job in one component: start the ranks with srun --het-group=0-1 instead")
	task, err := Allocation(observed(t, "slurm-24.11.5-het-job"))
	require.NoError(t, err)
	assert.Empty(t, task, "a task of such a job has what it was given")
	_, err = Allocation(set(batch, "SLURM_JOB_NODELIST=n[1-"))
	assert.ErrorIs(t, err, ErrEvidence)
	assert.ErrorContains(t, err, "--launcher local")
}

// TestOneOf: one of several tasks does not start a job as if it were alone.
func TestOneOf(t *testing.T) {
	for name, want := range map[string]string{
		srun: "srun -n 1", srunPMI: "srun -n 1", mpirun: "one task", hydra: "mpiexec -n 1", "hydra-4.2.1-pmi-port": "",
		"slurm-24.11.5-batch-script": "", "slurm-24.11.5-interactive-step": "", pod: "one pod",
	} {
		env := set(observed(t, name), "GOULFM_NODES=4", "GOULFM_JOB=u", "GOULFM_SERVICE=heat")
		err := OneOf(Recognise(env, yes))
		if want == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorContains(t, err, want, name)
		assert.ErrorContains(t, err, "GOULFM_ALONE=1", name)
		assert.NoError(t, OneOf(Recognise(set(env, AloneVariable+"=1"), yes)), name)
	}
	assert.ErrorIs(t, OneOf(Recognise([]string{"PMIX_RANK=3"}, no)), ErrEvidence)
	assert.NoError(t, OneOf(Recognise([]string{"SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0", "SLURM_STEP_ID=0", "SLURM_JOB_ID=1"}, no)))
	assert.NoError(t, OneOf(Recognise(set(observed(t, srun), "GOULFM_BOOT={}"), no)))
}
