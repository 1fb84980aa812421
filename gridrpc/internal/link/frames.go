package link

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Bounds of the frames of calls, for clients and servers.
const (
	LaneMax  = 64 << 10 // bytes of an argument or a result in a trunk
	batchMax = 1 << 20  // bytes of a message before its last frame: gRPC accepts 4 MiB
)

// pieceMax is the largest number of bytes in a frame.
const pieceMax = 256 << 10

// KeepMax is the longest time for which a server holds the outcome of a call.
const KeepMax = 7 * 24 * time.Hour

// Pieces cuts bytes into frames.
func Pieces(data []byte) []*pb.CallFrame {
	var frames []*pb.CallFrame
	for len(data) > 0 {
		n := min(len(data), pieceMax)
		frames = append(frames, &pb.CallFrame{Kind: &pb.CallFrame_Data{Data: &pb.Data{Body: data[:n]}}})
		data = data[n:]
	}
	return frames
}

// SendBatches sends frames in as few messages as possible.
func SendBatches(send func(*pb.CallFrames) error, frames []*pb.CallFrame) error {
	for len(frames) > 0 {
		n, bytes := 0, 0
		for n < len(frames) && bytes < batchMax {
			bytes += proto.Size(frames[n])
			n++
		}
		if err := send(&pb.CallFrames{Frames: frames[:n]}); err != nil {
			return err
		}
		frames = frames[n:]
	}
	return nil
}
