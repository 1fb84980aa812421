// Package jetstream keeps checkpoints in NATS JetStream, with three copies of each file. It is the
// platform's own store on several machines, of which one may be lost at any time. "gridrpc up
// --store jetstream" starts its servers, each with package replica.
//
// A name is jetstream://HOST:PORT,HOST:PORT,... with all servers, and /STREAM for another stream
// than "checkpoints".
//
// # Layout
//
// All files are in one stream, in which each subject has one message, the latest:
//
//	STREAM.file.KEY      length of the file, and its bytes if they are few, else the id of its pieces
//	STREAM.piece.ID.N    its bytes from N MiB on; each Put has an id of its own
//
// In KEY "/" is ".", and "." is "=", which no key has. A Put sends the pieces, a bounded number at
// a time, and then the message of the file, which is the commit point. This message is accepted
// only if the present one is still the one that the Put has read. So each of two simultaneous Puts
// replaces a complete file and deletes its pieces. Requests reach only the leader of the stream,
// which has all acknowledged messages: other copies may be behind. An acknowledged message is on
// the disks of two of three servers.
//
// # Loss of a server
//
// Calls wait up to ten seconds for a new leader, and continue. Without two of three servers they
// fail after half a minute.
//
// # Not promised
//
// A process that dies within Put leaves its pieces. They do no harm, but take room until Sweep
// deletes them a day later. After an error of Put either the former file or the new one exists,
// completely.
package jetstream
