package remotedaemon

import (
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/stretchr/testify/assert"
)

// TestComplaints: the membership learns of the first lane to a node that cannot be dialed, and of
// the end of the last one, by a connection or by the end of the process.
func TestComplaints(t *testing.T) {
	var told []string
	c := &complaints{own: 0, nodes: []int{0, 0, 1, 1, 2}, lanes: map[lane]bool{}, count: map[int]int{}}
	c.unreachable = func(node int, so bool) { told = append(told, fmt.Sprint(node, " ", so)) }
	expect := func(want ...string) {
		t.Helper()
		assert.Equal(t, want, told)
		told = nil
	}
	c.hear(0, rankproto.Unmet{Proc: 2})
	expect("1 true")
	c.hear(0, rankproto.Unmet{Proc: 2})             // the request is repeated
	c.hear(0, rankproto.Unmet{Proc: 2, Lane: 1})    // the other lane
	c.hear(1, rankproto.Unmet{Proc: 3})             // another process of both nodes
	c.hear(0, rankproto.Unmet{Proc: 1})             // of this node
	c.hear(0, rankproto.Unmet{Proc: 9})             // of no slot
	c.hear(1, rankproto.Unmet{Proc: 2, Over: true}) // of a lane without complaint
	c.hear(0, rankproto.Unmet{Proc: 2, Over: true})
	expect()
	c.hear(1, rankproto.Unmet{Proc: 4})
	expect("2 true")
	c.forget(0)
	expect()
	c.hear(1, rankproto.Unmet{Proc: 3, Over: true})
	expect("1 false")
	c.forget(1)
	expect("2 false")
}
