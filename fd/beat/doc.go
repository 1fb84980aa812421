// Package beat is a failure detector for processes that have only a network in common: it carries
// the heartbeats of package fd/adaptive in UDP datagrams. One socket and one goroutine serve all
// processes that a process monitors, and all that monitor this process. Neither side has to be
// part of a job or to be a server.
//
// A process monitors another one after an introduction, over any channel that the two processes
// share: a remote call, a pipe, a file.
//
//	monitoring process                          monitored process
//	m, err := e.Monitor(qos, notify)
//	stream := m.NextStream()    -- stream -->   s, err := e.Accept(stream, key, nil)
//	m.Connected(Connection{..}) <-- address, key --
//	notify(Event{Kind: Reached}) ...            heartbeats, at the period that the monitor requests
//	notify(Event{Kind: Suspected})              is silent
//	notify(Event{Kind: Dead}), the last event   crashed
//
// The quality of detection (adaptive.QoS) has the longest time from a crash to its declaration, the
// least mean time between two wrong suspicions, and their longest mean duration. Package adaptive
// has the rule.
//
// # Connections
//
// The channel of the introduction may stay open. Then both sides pass the function that sends a
// message over the connection (Connection.Link, Accept), and hand arriving messages to Receive.
// The detector uses the connection where datagrams do not arrive. Once the event Reached has
// reported the first datagram, both sides may close it in order, and call Detach. A broken
// connection is evidence, too: see Monitor.Broken and Monitor.Refused. If the caller reports
// neither, the evidence is silence alone.
//
// # Guarantees
//
//   - The endpoint reads the datagrams in its socket, up to 4096 of them, before the detector
//     learns the time: datagrams that waited while this process was stopped are not silence.
//   - Heartbeats are sent only to an address from which a message with a valid tag arrived, with a
//     later clock than all messages before. A datagram without a valid tag changes nothing.
//   - One goroutine calls notify, in the order of events. Dead comes at most once, as the last
//     event.
//
// # Not promised
//
// Secrecy: keys authenticate heartbeats and do not encrypt them. The introduction has to be secret
// where others can read it.
//
// That a process that was declared dead has ended: its monitor has to ignore it from then on. And
// a declared process that lives is not told so.
//
// That a process that was stopped suspects no other. The senders that serve it pause after 30
// periods without its messages (package adaptive), and a full socket drops datagrams. After a
// longer stop the process suspects until a probe is answered.
//
// Reading order: endpoint.go, monitor.go, sender.go.
package beat
