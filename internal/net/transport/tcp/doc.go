// Package tcp moves frames between processes of different nodes. A pair of processes has two
// lanes, one for data and one for control, so that control never sits behind data: each lane is
// a connection, opened at first use by whoever needs it, and made anew when it breaks. What must
// arrive exactly once over connections that break is decided by package session; here are the
// sockets, the bytes that are kept until they are acknowledged, and those that have arrived.
//
//	TrySend ─▶ outbox ─▶ socket ═══════▶ socket ─▶ inbox ─▶ Peek, Advance
//	           kept until                           a frame is "taken"
//	           acknowledged  ◀─── ack ────          with Advance
//
// The caller makes progress: sockets never block, and are read and written by whoever holds the
// Link. Goroutines only make connections (dial, accept, prove to be members, which takes round
// trips) and hand them over as arrivals. A process that sleeps does so in epoll, on its doorbell
// and all its sockets (park.Bells). Nothing is edge-triggered: what was not read is reported
// again.
//
// A frame on the wire, numbers least significant byte first:
//
//	 0  body  u32   bytes after the header
//	 4  kind  u8    1 eager, 2 announce, 3 chunk, 4 control, 5 ack, 6 bye, 7 bye-ack
//	 5  elem  u8    element code
//	 6  flags u8    1: the send completes when it is matched; 2: acknowledge what came before, once it is taken
//	 7  zero  u8
//	 8  ctx   u32   the receiver's context; of a control frame's part: bytes of the whole frame
//	12  tag   i32
//	16  crc   u32   CRC-32C of bytes 0 to 15
//	20  body        eager, control: payload; announce: size u64, handle u64, crc u32;
//	                chunk: handle u64, offset u64, crc u32, payload; ack: taken u64, credit u64, crc u32
//
// The second crc is of the two numbers before it. What a checksum finds wrong breaks the
// connection, and comes again over the next one. The bytes of messages have no checksum here, as
// little as with other message layers over TCP: TCP's own and those of the network see to them;
// TLS checks every byte.
//
// Kinds 1 to 4 are counted: they are the stream of a lane, kept until acknowledged. The others
// stand between them, and are lost with a connection without harm.
//
// Reading order: link_linux.go (which of a process's peers are here, which elsewhere),
// mesh_linux.go, lane_linux.go, line_linux.go, outbox.go, inbox_linux.go, frame.go, meet_linux.go.
package tcp
