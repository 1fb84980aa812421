// Package tcp moves frames between processes of different nodes. A pair of processes has two lanes,
// one for data and one for control, so that data never delays control. Each lane uses one
// connection at a time. A process that needs the lane opens the connection, and the pair makes a
// new one when it breaks. Package session decides which bytes must be sent again, so that all
// arrive exactly once. This package holds the sockets, the bytes that wait for an acknowledgement,
// and the received bytes.
//
//	TrySend ─▶ outbox ─▶ socket ═══════▶ socket ─▶ inbox ─▶ Peek, Advance
//	           kept until                           a frame is "taken"
//	           acknowledged  ◀─── ack ────          with Advance
//
// The caller makes progress: sockets never block, and the goroutine that holds the Link reads and
// writes them. Other goroutines only make connections (dial, accept, prove membership, read the
// dialer's hello), which takes round trips, and pass them on as arrivals. A timer and Asked only
// leave notes for the holder of the Link. A sleeping process waits in epoll, for its doorbell
// and all its sockets (park.Bells). Nothing is edge-triggered: epoll reports unread bytes again.
//
// A frame on the wire, with little-endian numbers:
//
//	 0  body  u32   bytes after the header
//	 4  kind  u8    1 eager, 2 announce, 3 chunk, 4 control, 5 ack, 6 bye, 7 bye-ack
//	 5  elem  u8    element code
//	 6  flags u8    1: the send completes when matched; 2: acknowledge all earlier frames once taken
//	 7  zero  u8
//	 8  ctx   u32   the receiver's context; of a control frame's part: bytes of the whole frame
//	12  tag   i32
//	16  crc   u32   CRC-32C of bytes 0 to 15
//	20  body        eager, control: payload; announce: size u64, handle u64, crc u32;
//	                chunk: handle u64, offset u64, crc u32, payload; ack: taken u64, credit u64, crc u32
//
// The second crc covers the two numbers before it. If a checksum is wrong, the receiver breaks the
// connection, and the peer sends the bytes again over the next one. The payload of messages and of
// control frames has no checksum here, as in other message layers over TCP: the checksums of TCP
// and of the network protect it. TLS checks every byte.
//
// Kinds 1 to 4 are counted: they form the stream of a lane, and the sender keeps them until they
// are acknowledged. The other kinds stand between them, and may be lost with a connection without
// harm.
//
// Reading order: link_linux.go (the split between peers on this node and on others), mesh_linux.go,
// lane_linux.go, line_linux.go, outbox.go, inbox_linux.go, frame.go, meet_linux.go.
package tcp
