package repair

import "github.com/goulfm/goulfm/internal/ckpt/commitinterval"

// Call names the call of the library in which a member contributes to a boundary.
type Call int

// The calls that end in a boundary.
const (
	CallCommit Call = iota // the program continues after it
	CallSeal               // the end of Protect; the program continues after it
	CallLeave              // the body has returned with an error, or must be called again
	CallFinish             // the body has returned nil
)

// Ballot is the contribution of a member to a boundary. Fields that do not apply to the call
// are left zero.
type Ballot struct {
	Call       Call
	Incomplete bool   // this version, or a copy that this member keeps, is not whole (yet)
	Fatal      bool   // the program has an error that no repair cures
	Stop       bool   // Commit: a stop is requested; Leave: the last commit before it is made
	Offer      bool   // this member knows of processes that could fill up the world
	Files      Files  // Commit
	Same       bool   // Commit, Seal: Digest is of the replicated data, equal at all ranks
	Digest     uint64 // salted by the version: the next one shows a difference that this one misses
	Want       int    // the interval that this member requests, in points; 0: none
}

// The bits of a word. Words are ANDed, so a bit shows whether it is 1 at all members. Some facts
// also require to know whether they hold at no member: they have a second bit, the complement. A
// bit that does not apply to a member is 1 there.
//
//	bit     1 means, at a member
//	0       this version and the copies that this member keeps are complete
//	1, 4    the member continues after this call; does not continue
//	2, 3    the body is finished; is not finished
//	5       no fatal error
//	6       no stop
//	7       no process is offered
//	8, 31   files: 1 1 done, 0 1 writing, 0 0 failed, 1 0 wanted
//	9-18    the digest of the replicated data
//	19-28   its complement
//	29, 30  in Protect; in Commit
//	32-63   unary: the requested interval
const (
	bitComplete = 0
	bitStays    = 1
	bitFinished = 2
	bitWorks    = 3
	bitLeaves   = 4
	bitSound    = 5
	bitRuns     = 6
	bitNoOffer  = 7
	bitWritten  = 8
	bitDigest   = 9
	bitInverse  = 19
	bitSeals    = 29
	bitCommits  = 30
	bitNoFiles  = 31
	bitWant     = 32

	digestMask = 1<<10 - 1
)

// Word returns the flag that the member contributes to the agreement.
func (b Ballot) Word() uint64 {
	stays := b.Call == CallCommit || b.Call == CallSeal
	w := ^uint64(0)
	w = clearIf(w, bitComplete, b.Incomplete)
	w = clearIf(w, bitStays, !stays)
	w = clearIf(w, bitLeaves, stays)
	w = clearIf(w, bitFinished, b.Call != CallFinish)
	w = clearIf(w, bitWorks, b.Call == CallFinish)
	w = clearIf(w, bitSound, b.Fatal)
	w = clearIf(w, bitRuns, b.Stop)
	w = clearIf(w, bitNoOffer, b.Offer)
	w = clearIf(w, bitWritten, b.Files == FilesWriting || b.Files == FilesFailed)
	w = clearIf(w, bitNoFiles, b.Files == FilesWanted || b.Files == FilesFailed)
	w = clearIf(w, bitSeals, b.Call == CallCommit)
	w = clearIf(w, bitCommits, b.Call == CallSeal)
	if b.Same {
		d := fold(b.Digest)
		w &^= (^d & digestMask) << bitDigest
		w &^= d << bitInverse
	}
	if b.Want > 0 {
		w &^= uint64(^commitinterval.Encode(b.Want)) << bitWant
	}
	return w
}

// filesOf decodes the bits of the files. Their AND is the worst of the members' states, provided
// that no member requests files while another is writing. This cannot happen: the members agree on
// whether a version is open.
func filesOf(written, noFiles bool) Files {
	switch {
	case written && noFiles:
		return FilesDone
	case written:
		return FilesWanted
	case noFiles:
		return FilesWriting
	}
	return FilesFailed
}

// fold reduces a digest to ten bits.
func fold(digest uint64) uint64 {
	digest ^= digest >> 40
	digest ^= digest >> 20
	return (digest ^ digest>>10) & digestMask
}

func clearIf(w uint64, bit int, when bool) uint64 {
	if when {
		return w &^ (1 << bit)
	}
	return w
}

// Tally is the content of the agreed word, the same at all members.
type Tally struct {
	Complete bool  // at all members
	AllStay  bool  // every member is in Commit or in Protect; a mixture is a Mismatch
	SomeStay bool  // some member is
	Finished bool  // every body has returned nil
	Mismatch bool  // members are at different places of the program: an error of the program
	Fatal    bool  // at one member at least
	Stop     bool  // one member at least requests it, or none stays and the last commit is made
	Offer    bool  // at one member at least
	Files    Files // the worst: failed, writing, wanted, done. Wanted only while none is open
	Replica  bool  // ten bits of the digests differ: replicated data are not equal at all ranks
	Interval int   // shortest request, rounded down to a step of commitinterval; Longest if there is none
}

// Read decodes an agreed word.
func Read(word uint64) Tally {
	all := func(bit int) bool { return word>>bit&1 == 1 }
	t := Tally{
		Complete: all(bitComplete),
		AllStay:  all(bitStays),
		SomeStay: !all(bitLeaves),
		Finished: all(bitFinished),
		Fatal:    !all(bitSound),
		Stop:     !all(bitRuns),
		Offer:    !all(bitNoOffer),
		Files:    filesOf(all(bitWritten), all(bitNoFiles)),
		Interval: commitinterval.Decode(uint32(word >> bitWant)),
	}
	somebodyFinished := !all(bitWorks)
	t.Mismatch = t.SomeStay && somebodyFinished || !all(bitSeals) && !all(bitCommits)
	d, inverse := word>>bitDigest&digestMask, word>>bitInverse&digestMask
	nobody := d == digestMask && inverse == digestMask
	t.Replica = !nobody && d^inverse != digestMask
	return t
}
