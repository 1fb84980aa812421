package daemonclient

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/net/socket"
)

// TestDaemonOfAnotherBuild: the launcher refuses a Hello of another build, or of one from before
// there were builds, and names the node.
func TestDaemonOfAnotherBuild(t *testing.T) {
	meet := func(build uint32) error {
		return (&muster{}).meet(newNode(&Client{}, 1, "b"), arrival{hello: daemonproto.Hello{Node: 1, Build: build}, conn: new(socket.Lasting)})
	}
	assert.NoError(t, meet(buildid.Build))
	for _, build := range []uint32{0, buildid.Build ^ 1} {
		assert.EqualError(t, meet(build), "node 1 (b) has another build of goulfm: install the same one on all nodes")
	}
}
