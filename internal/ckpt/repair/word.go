package repair

import "github.com/goulfm/goulfm/internal/ckpt/commitinterval"

// Call says in which call of the library a member contributes to a boundary.
type Call int

// The calls that end in a boundary.
const (
	CallCommit Call = iota // the program goes on after it
	CallSeal               // the end of Protect; the program goes on after it
	CallLeave              // the body has returned with an error, or must be called again
	CallFinish             // the body has returned nil
)

// Ballot is what a member contributes to a boundary. Fields that do not apply to its
// call are left zero.
type Ballot struct {
	Call       Call
	Incomplete bool   // this version, or a copy that this member keeps, is not whole (yet)
	Fatal      bool   // the program has an error that no repair cures
	Stop       bool   // Commit: a stop is asked for; Leave: the last commit before it is made
	Offer      bool   // this member was told of processes that could fill the world up
	Files      Files  // Commit
	Same       bool   // Commit, Seal: the members that are equal at all ranks have the digest Digest
	Digest     uint64 // salted by the version, so that one accident does not repeat itself
	Want       int    // the interval this member wants, in points; 0: none requested
}

// The bits of a word. Words are ANDed, so a bit tells whether all members say 1; a fact
// of which one must also know whether nobody says it has a second bit, its complement.
// A bit that does not apply to a member is 1 there.
//
//	bit     1 means, at a member
//	0       this version and the copies that I keep are complete
//	1, 4    I go on after this call; I do not
//	2, 3    my body is finished; it is not
//	5       no fatal error
//	6       no stop
//	7       no process is offered
//	8, 31   files: 1 1 done, 0 1 writing, 0 0 failed, 1 0 wanted
//	9-18    the digest of what is equal at all ranks
//	19-28   its complement
//	29, 30  I am in Protect; I am in Commit
//	32-63   unary: the interval that I want
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

// Word returns the flag that the member gives to the agreement.
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

// filesOf reads the bits of the files. Their AND names the worst of what members say as long as
// requests and writing do not come together, and so they do not: it is agreed whether a version is
// open.
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

// fold makes ten bits of a digest.
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

// Tally is what all members read out of the agreed word: the same at all.
type Tally struct {
	Complete bool  // at all
	AllStay  bool  // everybody is in Commit, or everybody in Protect
	SomeStay bool  // somebody is
	Finished bool  // everybody's body has returned nil
	Mismatch bool  // members are at different places of the program: an error of the program
	Fatal    bool  // at one at least
	Stop     bool  // one at least asks for it, or none stays and the last commit is made
	Offer    bool  // at one at least
	Files    Files // the worst: failed, writing, wanted, done. While a version is open nobody wants another
	Replica  bool  // ten bits of the digests differ: what should be equal at all ranks is not
	Interval int   // shortest request, rounded down to a step of commitinterval; Longest if there is none
}

// Read takes an agreed word apart.
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
