package link

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// TestBatches: all frames are sent, in order, in messages that gRPC accepts.
func TestBatches(t *testing.T) {
	var frames []*pb.CallFrame
	for i := range 100 {
		frames = append(frames, &pb.CallFrame{Lane: uint64(i), Kind: &pb.CallFrame_Result{Result: &pb.Result{Body: make([]byte, i%3*LaneMax/2)}}})
	}
	var sent []*pb.CallFrame
	messages := 0
	require.NoError(t, SendBatches(func(m *pb.CallFrames) error {
		assert.Less(t, proto.Size(m), 2<<20)
		sent = append(sent, m.Frames...)
		messages++
		return nil
	}, frames))
	assert.Equal(t, frames, sent)
	assert.Less(t, messages, 5)
}
