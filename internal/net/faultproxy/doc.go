// Package faultproxy is a bad network for tests and trials: a TCP relay that listens on loopback,
// forwards what it is given to a target and back, and breaks connections on command or by a
// plan. It sees bytes and no frames, so it breaks anything that goes over TCP, encrypted or not.
//
//	dialer ═════▶ Relay.Addr ─── relay ───▶ target
//	                    ToTarget ──▶
//	                    ◀── ToDialer
//
// What it can do to a connection, and what that looks like at its two ends:
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
// A delay (Script.Delay) makes each byte late and none slower: a long cable, in front of the place
// where all this happens.
//
// Packets does the same for datagrams, which only vanish. Datagrams go both ways, through a
// Weather: some are lost, each is late by a drawn time, and now and then all are lost for a while.
//
// # By plan or on command
//
// A Plan says for the n-th connection, counted from 0, at which byte of which direction what
// happens: the same each time, however the kernel cuts the stream into pieces. Only what is on its
// way in the other direction at that moment is not determined. Random draws a plan from a seed.
//
// Commands (Relay.Cut, Relay.Stall and so on) apply to all connections that are there: those that
// Stats counts as made. Its target's kernel may have accepted one a moment before. A test that
// wants to know that something has happened waits for it with Relay.Await, and never sleeps.
package faultproxy
