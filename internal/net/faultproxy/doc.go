// Package faultproxy is a faulty network for tests and trials: a TCP relay that listens on
// loopback, forwards data to a target and back, and breaks connections on command or by a plan.
// The relay sees bytes and no frames, so it can break any protocol over TCP, encrypted or not.
//
//	dialer ═════▶ Relay.Addr ─── relay ───▶ target
//	                    ToTarget ──▶
//	                    ◀── ToDialer
//
// The faults of a connection, and their effects at its two ends:
//
//	Cut       reset at both ends; what is on its way is lost. A process that was killed, a
//	          firewall that forgets
//	End       all that was forwarded arrives, then both ends read an end of file. A process that
//	          exits; a stream that is cut short
//	Stall     one direction stands still, and the news of its end with it; its sender's kernel takes
//	          bytes until the buffers are full. A congested or unplugged network
//	HalfOpen  the end towards which the direction leads is reset; the other end is told nothing,
//	          and what it says vanishes. A host that has restarted
//	Swallow   what is said in one direction vanishes, and nobody is told. No TCP does this by
//	          itself; a broken middlebox does
//	Garble    one byte is another one. TCP's checksum misses one such packet of some millions
//
// A delay (Script.Delay) makes each byte late without a limit of the rate: a long cable, in front
// of the place of the faults.
//
// Packets does the same for datagrams, which only vanish. Datagrams forwards both ways, through a
// Weather: some datagrams are lost, each is late by a drawn time, and now and then all are lost
// for a while.
//
// # By plan or on command
//
// A Plan gives the faults of the n-th connection, counted from 0, each with its direction, its
// byte and its act. The faults are the same each time, whatever the pieces in which the kernel
// cuts the stream. Only the data on its way in the other direction at that moment is not
// determined. Random draws a plan from a seed.
//
// Commands (Relay.Cut, Relay.Stall and so on) apply to all present connections, which are those
// that Stats counts as made. The kernel of the target may have accepted a connection a moment
// before. A test that depends on an event waits for it with Relay.Await, and never sleeps.
package faultproxy
