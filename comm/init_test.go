package comm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A rank on a machine with other work polls briefly before a wait blocks.
func ExampleMainWith() {
	comm.MainWith(comm.Config{SpinPolls: 20}, func(ctx context.Context, w *comm.Comm) error {
		fmt.Println("hello from rank", w.Rank())
		return nil
	})
	// Output: hello from rank 0
}

// TestInitTwice: a process has one world, however often Init is called; the last Finalize ends the
// world. Only TestInitTwiceInAJob of the launcher can show that no world follows.
func TestInitTwice(t *testing.T) {
	ctx := t.Context()
	w, err := comm.Init(ctx)
	require.NoError(t, err)
	again, err := comm.InitWith(ctx, comm.Config{SpinPolls: 1})
	require.NoError(t, err)
	assert.Same(t, w, again)
	require.NoError(t, again.Finalize(ctx))
	d, err := w.Dup(ctx)
	require.NoError(t, err, "one of two has given it back")
	require.NoError(t, d.Free())
	require.NoError(t, w.Finalize(ctx))
	_, err = w.Dup(ctx)
	assert.ErrorIs(t, err, comm.ErrFinalized)
	assert.ErrorIs(t, w.Finalize(ctx), comm.ErrFinalized)
	w, err = comm.Init(ctx)
	require.NoError(t, err, "nothing launched this process: it may begin again")
	require.NoError(t, w.Finalize(ctx))
}

// TestSpinFromTheEnvironment: GOULFM_SPIN sets the value if the program does not.
func TestSpinFromTheEnvironment(t *testing.T) {
	t.Setenv("GOULFM_SPIN", "20")
	got, err := comm.WithEnvironment(comm.Config{})
	assert.Equal(t, 20, got.SpinPolls)
	assert.NoError(t, err)
	got, err = comm.WithEnvironment(comm.Config{SpinPolls: 7})
	assert.Equal(t, 7, got.SpinPolls)
	assert.NoError(t, err)
	for _, bad := range []string{"", "0", "-1", "much", "99999999999"} {
		t.Setenv("GOULFM_SPIN", bad)
		_, err = comm.Init(t.Context())
		assert.ErrorContains(t, err, "GOULFM_SPIN", bad)
	}
}
