package commstate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
)

// Kind names a call that ends in an agreement.
type Kind uint32

// The kinds. KindNone is no call.
const (
	KindNone Kind = iota
	KindAgree
	KindAgreeFailed
	KindShrink
	KindDup
	KindSplit
	KindClose
	KindFinalize
	KindSpawn
	KindCreate
	KindSplitNode
	KindCart
	KindGraph
	KindDistGraph
	KindCreateGroup
	KindMerge
	KindEnd          // finalize, in the sequence of agree and shrink
	KindEndCreations // finalize, in the sequence of the calls that make communicators
	KindReplace      // a spawn that continues after a revocation, with given ranks
	KindDisconnect   // the agreement before all members close a communicator together
)

// String returns the name of the call in the program.
func (k Kind) String() string {
	switch k {
	case KindAgree:
		return "agree"
	case KindAgreeFailed:
		return "agree_failed"
	case KindShrink:
		return "shrink"
	case KindDup:
		return "dup"
	case KindSplit:
		return "split"
	case KindClose:
		return "free"
	case KindFinalize, KindEnd, KindEndCreations:
		return "finalize"
	case KindSpawn:
		return "spawn"
	case KindCreate:
		return "create"
	case KindSplitNode:
		return "split_node"
	case KindCart:
		return "cart"
	case KindGraph:
		return "graph"
	case KindDistGraph:
		return "dist_graph"
	case KindCreateGroup:
		return "create_group"
	case KindMerge:
		return "merge"
	case KindReplace:
		return "replace"
	case KindDisconnect:
		return "disconnect"
	}
	return fmt.Sprintf("call %d", uint32(k))
}

// Series returns the numbered sequence of agreements that the call takes its
// number from.
func (k Kind) Series() Series {
	switch k {
	case KindDup, KindSplit, KindSpawn, KindCreate, KindSplitNode, KindCart, KindGraph, KindDistGraph, KindCreateGroup, KindMerge, KindEndCreations:
		return SeriesCreate
	case KindClose, KindFinalize:
		return SeriesClose
	}
	return SeriesRepair
}

// draws reports whether the call may make a communicator, so that its caller needs
// a context index before its contribution.
func (k Kind) draws() bool {
	return k == KindShrink || k == KindReplace || k.Series() == SeriesCreate && !k.Ends()
}

// Starts reports whether processes are started for the call, so that the communicator that the
// call makes has members that do not contribute.
func (k Kind) Starts() bool { return k == KindSpawn || k == KindReplace }

// placed reports whether the contributions to the call have a colour and a key.
func (k Kind) placed() bool { return k.draws() && k != KindShrink && k != KindDup && !k.Starts() }

// digested reports whether the contributions also have a digest of the arguments.
func (k Kind) digested() bool {
	switch k {
	case KindCreate, KindCart, KindGraph, KindDistGraph, KindCreateGroup, KindMerge, KindReplace:
		return true
	}
	return false
}

// Gathers reports whether only some members make the call, so that they must find
// each other before they can agree.
func (k Kind) Gathers() bool { return k == KindCreateGroup }

// Ends reports whether the call is the place of a finalize in a sequence of agreements. Its
// agreement gives no error, unless another member has made another call there.
func (k Kind) Ends() bool { return k == KindEnd || k == KindEndCreations }

// plain reports whether the contribution to the call is a flag and nothing more.
func (k Kind) plain() bool { return k == KindAgree || k == KindAgreeFailed }

// Series names one of the three sequences of agreements of a communicator. Comm
// gives the reason for three.
type Series uint8

// The sequences.
const (
	SeriesRepair Series = iota // agree, agree_failed, shrink, replace, disconnect: continue after a revocation
	SeriesCreate               // dup, split and the like: a revocation gives them up
	SeriesClose                // free, finalize: the last agreement
	seriesCount
)

// String returns the sequence's name.
func (s Series) String() string {
	switch s {
	case SeriesRepair:
		return "repair"
	case SeriesCreate:
		return "create"
	case SeriesClose:
		return "close"
	}
	return fmt.Sprintf("series %d", uint8(s))
}

// Call is the operation that a member called. If the Calls in one agreement differ, all
// members get ErrMismatch.
type Call struct {
	Kind Kind
	Root int // the root if the call has one, otherwise 0
}

// DrawsIndex reports whether the caller draws a context index for a communicator
// that the call may make.
func (c Call) DrawsIndex() bool { return c.Kind.draws() }

// String returns "split" or, with a root, "split(root 2)".
func (c Call) String() string {
	if c.Root != 0 {
		return fmt.Sprintf("%s(root %d)", c.Kind, c.Root)
	}
	return c.Kind.String()
}

func (c Call) code() uint64 { return uint64(c.Kind)<<32 | uint64(uint32(int32(c.Root))) }

func callOf(code uint64) Call { return Call{Kind: Kind(code >> 32), Root: int(int32(uint32(code)))} }

// UID names a communicator in the whole job. Frames do not carry it: there the
// receiver's context index identifies the communicator.
type UID [16]byte

// WorldUID returns the uid of the world of n processes.
func WorldUID(n int) UID { return hash(UID{}, "world", uint64(n), 0) }

// SpawnedUID returns the uid of the world of n processes that other processes of
// the job started together. Their process numbers begin at first.
func SpawnedUID(first int, generation uint32, n int) UID {
	return hash(UID{}, "spawned", uint64(n), uint64(generation)<<32|uint64(first))
}

// ChildUID returns the uid of a communicator made by the seq-th agreement of
// the series of kind on the parent, for the members of one colour.
func ChildUID(parent UID, kind Kind, seq uint64, color int) UID {
	return hash(parent, kind.String(), seq, uint64(int64(color)))
}

// GatheringUID returns the uid of the communicator on which some members of the
// parent agree for the count-th time, from 0, with the same tag. The procs are
// the world processes of these members, ascending.
func GatheringUID(parent UID, procs []int, tag int, count uint64) UID {
	members := hash(parent, "group", Digest(procs...), uint64(len(procs)))
	return hash(members, "tag", count, uint64(int64(tag)))
}

// A Revocation names a communicator and a member that revoked it, for processes that may not have
// the communicator. The uid alone is not enough:
//
//	0 decides a shrink, which leaves {0 1 2}; revokes the result, and dies.
//	1 and 2 decide the same shrink without 0 (A17): theirs has the same uid, and is not revoked.
type Revocation [16]byte

// RevokedBy returns the name of the revocation of u by a process.
func (u UID) RevokedBy(proc int) Revocation {
	r := Revocation(u)
	binary.LittleEndian.PutUint32(r[12:], binary.LittleEndian.Uint32(r[12:])^uint32(proc))
	return r
}

// Meets reports whether r is of the communicator of g, by one of its members.
func (r Revocation) Meets(g Group) bool {
	proc := binary.LittleEndian.Uint32(r[12:]) ^ binary.LittleEndian.Uint32(g.UID[12:])
	return g.UID.RevokedBy(int(proc)) == r && slices.Contains(g.Procs, int(proc))
}

// String returns the first eight hexadecimal digits.
func (u UID) String() string { return hex.EncodeToString(u[:4]) }

func hash(parent UID, kind string, seq, color uint64) UID {
	b := make([]byte, 0, 64)
	b = append(b, parent[:]...)
	b = binary.LittleEndian.AppendUint64(b, seq)
	b = binary.LittleEndian.AppendUint64(b, color)
	b = append(b, kind...)
	sum := sha256.Sum256(b)
	return UID(sum[:16])
}
