package server

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/codec"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
)

// FuzzSubmit: any first frame is refused for a reason, or names a call that the desk accepts.
func FuzzSubmit(f *testing.F) {
	for _, m := range []*pb.Submit{
		{Call: make([]byte, 16), Attempt: 1, Service: "square", Codec: "gob", Size: 3},
		{Call: make([]byte, 15), Attempt: 1, Service: "square"},
		{Call: make([]byte, 16), Attempt: 0, Service: "square"},
		{Call: make([]byte, 16), Attempt: 1, Service: "none", Size: 1 << 40},
		{Call: make([]byte, 16), Attempt: 1, Service: "square", Keep: -1},
	} {
		data, err := proto.Marshal(&pb.CallFrame{Kind: &pb.CallFrame_Submit{Submit: m}})
		assert.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var frame pb.CallFrame
		if proto.Unmarshal(data, &frame) != nil {
			return
		}
		s := &Server{services: map[string]*service{"square": {name: "square"}}, desk: session.Desk{Places: 1}}
		m := frame.GetSubmit()
		why, text := s.examine(m)
		if why != 0 {
			assert.NotEmpty(t, text)
			return
		}
		assert.NotZero(t, m.Attempt)
		assert.LessOrEqual(t, m.Size, uint64(codec.Max))
		assert.NotNil(t, s.services[m.Service])
		assert.LessOrEqual(t, m.Keep, int64(link.KeepMax))
		s.desk.Submit(session.CallID(m.Call), m.Attempt, m.Incarnation, m.Attach)
	})
}
