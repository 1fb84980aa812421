package link

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

func dataFrame(body []byte) *pb.CallFrame {
	return &pb.CallFrame{Kind: &pb.CallFrame_Data{Data: &pb.Data{Body: body}}}
}

// cut returns bytes in several buffers, as the network delivers them.
func cut(data []byte, size int) (list mem.BufferSlice) {
	for len(data) > 0 {
		n := min(size, len(data))
		list, data = append(list, mem.SliceBuffer(data[:n])), data[n:]
	}
	return list
}

// TestCodec: the sent bytes are those of protobuf, and are received unchanged in any pieces.
func TestCodec(t *testing.T) {
	c := newCodec()
	for _, n := range []int{0, 1, wholeFrom - 1, wholeFrom, 16 << 10, 300_001} {
		body := bytes.Repeat([]byte("0123456789"), n/10+1)[:n]
		for _, f := range []*pb.CallFrame{dataFrame(body), {Lane: 7, Kind: dataFrame(body).Kind}, {Kind: &pb.CallFrame_Submit{Submit: &pb.Submit{Size: 5}}}} {
			want, err := proto.Marshal(f)
			require.NoError(t, err)
			sent, err := c.Marshal(f)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(want, sent.Materialize()), "%d bytes", n)
			var back pb.CallFrame
			require.NoError(t, c.Unmarshal(cut(want, 1000), &back))
			assert.True(t, proto.Equal(f, &back))
			b := Bytes{Size: uint64(n) + 3, Have: []byte("abc")}
			if err := c.Unmarshal(cut(want, 1000), &b); f.GetData() == nil {
				assert.ErrorContains(t, err, "without any of the bytes")
				continue
			}
			assert.True(t, b.Whole())
			assert.Equal(t, "abc"+string(body), string(b.Have))
		}
		sent, err := c.Marshal(dataFrame(body))
		require.NoError(t, err)
		if n > 0 {
			assert.ErrorContains(t, c.Unmarshal(sent, &Bytes{Size: uint64(n) - 1}), "more than the")
		}
	}
	sent, err := c.Marshal(dataFrame(make([]byte, wholeFrom)))
	require.NoError(t, err)
	assert.Len(t, sent, 2, "the bytes are not copied")
}

// TestBytesGrow: the memory grows with the received bytes, for any announced size.
func TestBytesGrow(t *testing.T) {
	piece := bytes.Repeat([]byte("0123456"), 111)
	for _, size := range []uint64{1000 * uint64(len(piece)), 1 << 62} {
		b := Bytes{Size: size}
		for range 1000 {
			require.NoError(t, b.take(bytes.NewReader(piece), len(piece)))
			assert.LessOrEqual(t, cap(b.Have), growth*len(b.Have)+1024)
		}
		assert.True(t, bytes.Equal(bytes.Repeat(piece, 1000), b.Have))
		if b.Whole() {
			assert.LessOrEqual(t, cap(b.Have), len(b.Have)+1024)
		}
	}
}

// FuzzBytes: from any message as many bytes are read as protobuf finds in it, or it is refused.
func FuzzBytes(f *testing.F) {
	for _, m := range []*pb.CallFrame{dataFrame(nil), dataFrame([]byte("abc")), {Lane: 1, Kind: dataFrame([]byte("abc")).Kind}, {Kind: &pb.CallFrame_Cancel{Cancel: &pb.Cancel{}}}} {
		data, err := proto.Marshal(m)
		require.NoError(f, err)
		f.Add(data, 2)
	}
	f.Add([]byte{0x12, 3, 0x0a, 1}, 1)
	f.Add([]byte{0x12, 4, 0x0a, 1, 1, 0}, 1)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		var want pb.CallFrame
		err := proto.Unmarshal(data, &want)
		b := Bytes{Size: 1 << 20}
		got := newCodec().Unmarshal(cut(data, max(1, size)), &b)
		if err != nil || want.GetData() == nil {
			assert.Error(t, got)
			return
		}
		assert.NoError(t, got)
		assert.True(t, bytes.Equal(want.GetData().Body, b.Have))
	})
}
