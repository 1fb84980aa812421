// Package engine drives the rules of one process: it hosts control and match, feeds them the
// arrivals from the transport, carries out their decisions, and lets the caller do the work.
//
// # Progress by the caller
//
// There is no goroutine hand-off on the way of a message. One lock (mu) guards all state and is
// held for moments only. A call that can end at once takes it, ends, and returns. A call that must
// wait becomes the leader, if nobody leads. Without the lock the leader polls the awaited ring cell
// and the epoch word, and now and then the any-source bits. When one of these moves, the leader
// takes the lock and lets the rules run. Other waiting calls follow: each sleeps on a channel of
// its own; the leader completes their requests, and hands the lead on when it leaves. While the
// program computes and nobody has called for a tick, the background loop leads, asleep until
// something arrives that cannot wait.
//
// # Short paths
//
// The most frequent operations take no request and meet no queue: quick.go receives the next
// message of a named sender straight from its ring, transfer.go copies large messages from memory
// to memory, memory.go makes an agreement without news in one line, shared.go runs a collective of
// package nodecoll. Each watches one word, and falls back to the long path when anything else needs
// attention. The long path continues from the state reached so far.
//
// # Owners of the state
//
// Proc has the state that all share: the lock, the peers, the requests, the communicators. The rest
// has owners, each a type with its own fields, found by Proc's field of that name:
//
//	| field     | file                 | owns                                                    |
//	| leads     | lead.go, quick.go    | the one call that makes progress, its followers          |
//	| loop      | background.go        | progress while the program computes                     |
//	| rules     | control.go           | events for the control rules, their timer               |
//	| gone      | departures.go        | departed processes, and those this process has let go of |
//	| links     | control.go, send.go  | frames that wait for room towards peers                 |
//	| ending    | ending.go            | Finalize                                                |
//	| transfers | transfer*.go         | service: long messages, in chunks or copied from memory  |
//	| memory    | memory.go, shared.go | service: agreements and collectives in the node's memory |
//	| schedules | schedule.go          | service: collectives by messages                        |
//	| memory    | watch.go             | a window's view of its members, stores of the dead       |
//	| memory    | onesided.go          | service: windows whose members share no memory           |
//
// A service (service.go) is work beside messages and agreements by messages. A further kind of work
// is one more service: a bit of the busy word, and no new check in any polling loop.
//
// # The order at a death
//
// Control frames that a process sent before it died are read first, as if the news had come later.
// Then the process is declared dead: its control ring closes; its data rings are drained up to the
// last published cell, so complete messages still match; then everything that needs the process
// fails, and its data rings close.
//
// Errors returned here are classes (ulfm.ErrProcFailed, ErrTruncated, ...);
// package comm adds the operation and the ranks.
package engine
