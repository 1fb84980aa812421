package launch

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// TestWaitsOfACollective: the report names the ranks that have not come, and no tag of a call that
// has none.
func TestWaitsOfACollective(t *testing.T) {
	waits := func(number int, ws ...rankproto.Wait) dumped {
		return dumped{Process: job.Process{Slot: number}, dump: &rankproto.Dump{Waits: ws, Lines: []string{"heat.go:8"}}}
	}
	barrier := func(on ...int) rankproto.Wait {
		return rankproto.Wait{Op: "barrier", Comm: "world", Ranks: on, Procs: on, Together: true}
	}
	ranks := []dumped{
		waits(0, barrier(2, 3)), waits(1, barrier(0)),
		waits(2), {Process: job.Process{Slot: 3}},
		{Process: job.Process{Slot: 6, Spare: true}},
		waits(4, rankproto.Wait{Op: "recv", Comm: "split of world", Ranks: []int{0}, Procs: []int{2}, Tag: 7}),
		waits(5, rankproto.Wait{Op: "bcast", Comm: "world", Procs: []int{0, 1, 2, 3, 4}, Together: true}),
	}
	assert.Equal(t, `  rank 0: barrier on world waits for ranks 2,3, at heat.go:8
  rank 1: barrier on world waits for rank 0, at heat.go:8
  rank 2: computes (in no call)
  rank 3 (pid 0): no answer within 2 s: stopped, or not in Init yet
  spare 6 (pid 0): waits for a rank to replace
  rank 4: recv on split of world waits for rank 0, tag 7: rank 2 of the world, at heat.go:8
  rank 5: bcast on world waits for any rank, at heat.go:8
goulfm: barrier on world: 2 ranks waiting, not in this call: ranks 2,3
`, waitText(ranks))
}
