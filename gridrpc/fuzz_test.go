package gridrpc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
)

// FuzzFound: an answer of a master is either refused, or names a server of the requested call.
func FuzzFound(f *testing.F) {
	id := session.CallID{7}
	for _, k := range []*pb.Kept{{Call: id[:], Attempt: 1, Server: &pb.Ref{Name: "s1", Addr: "x"}}, {Call: id[:]}, {Attempt: 1}} {
		data, err := proto.Marshal(k)
		assert.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var k pb.Kept
		if proto.Unmarshal(data, &k) == nil && usable(&k, id) {
			assert.Equal(t, id[:], k.Call)
			rule := session.New(session.Config{})
			rule.Step(session.Found{Server: serverOf(k.Server), Attempt: k.Attempt})
			assert.Equal(t, k.Attempt, rule.Attempt())
		}
	})
}
