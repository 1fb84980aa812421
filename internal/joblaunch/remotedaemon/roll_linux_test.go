package remotedaemon

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// TestLateNewsOfTheProcessBefore: the launcher has reported a death, the slot is another process's,
// and only now the news of that death comes from the daemon of the dead.
func TestLateNewsOfTheProcessBefore(t *testing.T) {
	o := newNodeDaemon()
	d, err := daemon.NewNode(o, 4, 0, &daemon.Neighbours{Slots: []int{0, 1}})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	r := newRoll(d, []int{0, 0, 1, 1}, 2)
	r.announce(4)

	first := d.Number(3)
	r.enter(3, false)
	assert.Equal(t, []job.Holding{{Slot: 3}}, d.Holdings(), "nobody of this node refers to it")
	require.NoError(t, r.vacate(3))
	assert.Empty(t, d.Holdings())
	require.Error(t, r.vacate(3), "its process has not departed")

	r.enter(first, false)
	assert.Empty(t, d.Holdings(), "it is not the death of the process that has the slot now")
	r.enter(job.NumberOf(3, 1), false)
	assert.Equal(t, []job.Holding{{Slot: 3}}, d.Holdings())
}

// TestALostNodeIsAnnouncedLater: the declaration of a node comes before the announcement of its
// processes, which are dead from the first moment on. A declaration of one node concerns no other.
func TestALostNodeIsAnnouncedLater(t *testing.T) {
	o := newNodeDaemon()
	d, err := daemon.NewNode(o, 4, 0, &daemon.Neighbours{Slots: []int{0}})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	r := newRoll(d, []int{0, 1, 2, 1}, 3)
	r.announce(2)
	r.lose(1)
	assert.Equal(t, []job.Holding{{Slot: 1}}, d.Holdings())
	r.announce(4)
	assert.Equal(t, []job.Holding{{Slot: 1}, {Slot: 3}}, d.Holdings())
	r.lose(2)
	assert.Equal(t, []job.Holding{{Slot: 1}, {Slot: 2}, {Slot: 3}}, d.Holdings())
}
