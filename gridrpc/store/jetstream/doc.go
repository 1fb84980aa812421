// Package jetstream keeps checkpoints in NATS JetStream, with three copies of everything: a store
// of one's own on several machines, of which one may be lost at any time. "gridrpc up --store
// jetstream" starts its servers, and package replica is one of them.
//
// A name is jetstream://HOST:PORT,HOST:PORT,... with all servers, and /STREAM if another stream
// than "checkpoints" is meant.
//
// # How a file lies there
//
// All is in one stream, in which each subject has one message, the latest:
//
//	STREAM.file.KEY      length of the file, and its bytes if they are few, else the id of its pieces
//	STREAM.piece.ID.N    its bytes from N MiB on; each Put has an id of its own
//
// In KEY "/" is ".", and "." is "=", which no key has. A Put sends the pieces, many at a time and
// not too many, and then the message of the file, which is the commit point: it is taken only if
// the one that is there is still the one that was seen, so that of two at once each replaces a
// whole file and takes its pieces away. Only who leads the stream is asked, which has all that was
// acknowledged: other copies may be behind. An acknowledged message is on the disks of two of three
// servers.
//
// # When a server is lost
//
// Calls wait until there is a leader again, which takes up to ten seconds, and go on. Without two
// of three servers they fail after half a minute.
//
// # Not promised
//
// A process that dies within Put leaves its pieces: they are in nobody's way, but take room until
// Sweep takes them away, a day later. An error of Put by which it is not known whether the file was
// taken leaves the former one or the new one, whole.
package jetstream
