package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// codec is gRPC's protobuf codec, except for the bytes of large arguments and results. They are
// sent from their place in memory, and received into their final place (Bytes), without a copy in a
// message on either side. The bytes on the wire are the same.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// Numbers of fields in gridrpc.proto.
const (
	frameData = 2 // of CallFrame
	dataBody  = 1 // of Data
)

// wholeFrom is the least number of bytes that are worth a buffer of their own.
const wholeFrom = 4 << 10

// Marshal does not copy the bytes of a Data: they must not change any more.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	f, _ := v.(*pb.CallFrame)
	body := f.GetData().GetBody()
	if len(body) < wholeFrom || f.GetLane() != 0 {
		return c.CodecV2.Marshal(v)
	}
	head := protowire.AppendTag(nil, frameData, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(protowire.SizeTag(dataBody)+protowire.SizeBytes(len(body))))
	head = protowire.AppendTag(head, dataBody, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(body)))
	return mem.BufferSlice{mem.SliceBuffer(head), mem.SliceBuffer(body)}, nil
}

// Unmarshal reads into a message, or into Bytes.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	to, ok := v.(*Bytes)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	r := data.Reader()
	defer HangUp(r)
	if n, ok := bodyOf(r); ok {
		return to.take(r, n)
	}
	var f pb.CallFrame
	if err := c.CodecV2.Unmarshal(data, &f); err != nil {
		return err
	}
	if f.GetData() == nil {
		return errors.New("a frame without any of the bytes that were announced")
	}
	whole := mem.BufferSlice{mem.SliceBuffer(f.GetData().Body)}.Reader()
	return to.take(whole, whole.Remaining())
}

// bodyOf reads the head of a CallFrame that holds a Data alone, as Marshal writes it. The n bytes
// of the body remain in the reader.
func bodyOf(r *mem.Reader) (n int, ok bool) {
	for _, number := range []protowire.Number{frameData, dataBody} {
		tag, err := binary.ReadUvarint(r)
		if err != nil || tag != protowire.EncodeTag(number, protowire.BytesType) {
			return 0, false
		}
		size, err := binary.ReadUvarint(r)
		if err != nil || size != uint64(r.Remaining()) {
			return 0, false
		}
	}
	return r.Remaining(), true
}

// Bytes collects the messages of a stream that carry an argument or a result.
type Bytes struct {
	Size uint64 // the announced size
	Have []byte // the received bytes
}

// Whole reports whether all bytes have arrived.
func (b *Bytes) Whole() bool { return uint64(len(b.Have)) == b.Size }

// Receive receives messages of a stream until all bytes have arrived.
func (b *Bytes) Receive(stream interface{ RecvMsg(m any) error }) error {
	for !b.Whole() {
		if err := stream.RecvMsg(b); err != nil {
			return err
		}
	}
	return nil
}

// growth is the factor by which the buffer grows. Each growth copies all bytes.
const growth = 8

// take appends n bytes. The memory is at most growth times the received bytes, for any announced
// size.
func (b *Bytes) take(r io.Reader, n int) error {
	have := len(b.Have)
	if uint64(n) > b.Size-uint64(have) {
		return fmt.Errorf("more than the %d bytes that were announced", b.Size)
	}
	if have+n > cap(b.Have) {
		room := max(uint64(have+n), min(b.Size, growth*uint64(have+n)))
		b.Have = append(make([]byte, 0, room), b.Have...)
	}
	_, err := io.ReadFull(r, b.Have[have:have+n])
	b.Have = b.Have[:have+n]
	return err
}
