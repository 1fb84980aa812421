package collectives

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// kind names a collective in headers and messages.
type kind uint8

const (
	barrier kind = iota + 1
	bcast
	bcastValue
	reduce
	allreduce
	gather
	gatherValue
	scatter
	allgather
	alltoall
	gatherv
	scatterv
	allgatherv
	alltoallv
	reduceScatterBlock
	reduceScatter
	scan
	exscan
	neighborAllgather
	neighborAllgatherv
	neighborAlltoall
	neighborAlltoallv
	reduceLoc
	allreduceLoc
	reduceValue
	scatterValue
	allgatherValue
	alltoallValue
	kinds
)

// traits are the properties of a kind.
type traits struct {
	name   string
	rooted bool
	op     bool // the what of its header is the operation
}

var traitsOf = [kinds]traits{
	barrier:            {name: "barrier"},
	bcast:              {name: "bcast", rooted: true},
	bcastValue:         {name: "bcast_value", rooted: true},
	reduce:             {name: "reduce", rooted: true},
	allreduce:          {name: "allreduce", op: true},
	gather:             {name: "gather", rooted: true},
	gatherValue:        {name: "gather_value", rooted: true},
	scatter:            {name: "scatter", rooted: true},
	allgather:          {name: "allgather"},
	alltoall:           {name: "alltoall"},
	gatherv:            {name: "gatherv", rooted: true},
	scatterv:           {name: "scatterv", rooted: true},
	allgatherv:         {name: "allgatherv"},
	alltoallv:          {name: "alltoallv"},
	reduceScatterBlock: {name: "reduce_scatter_block", op: true},
	reduceScatter:      {name: "reduce_scatter", op: true},
	scan:               {name: "scan", op: true},
	exscan:             {name: "exscan", op: true},
	neighborAllgather:  {name: "neighbor_allgather"},
	neighborAllgatherv: {name: "neighbor_allgatherv"},
	neighborAlltoall:   {name: "neighbor_alltoall"},
	neighborAlltoallv:  {name: "neighbor_alltoallv"},
	reduceLoc:          {name: "reduce_loc", rooted: true},
	allreduceLoc:       {name: "allreduce_loc", op: true},
	reduceValue:        {name: "reduce_value", rooted: true},
	scatterValue:       {name: "scatter_value", rooted: true},
	allgatherValue:     {name: "allgather_value"},
	alltoallValue:      {name: "alltoall_value"},
}

// twins are the names of those that do not block: kept, so that errors and diagnoses
// need no memory.
var twins = func() (names [kinds]string) {
	for k, t := range traitsOf {
		names[k] = "i" + t.name
	}
	return names
}()

func (k kind) String() string {
	if k < kinds && traitsOf[k].name != "" {
		return traitsOf[k].name
	}
	return fmt.Sprintf("collective %d", uint8(k))
}

// rooted reports whether the collective has a root.
func (k kind) rooted() bool { return k < kinds && traitsOf[k].rooted }

// takesOp reports whether a header of this kind names the operation.
func (k kind) takesOp() bool { return k < kinds && traitsOf[k].op }

// A header identifies the call of a message. The header is the part of the tag above the
// collective's number: receives match any header of a named peer and compare, so that members that
// called different collectives detect the mismatch instead of exchanging bytes.
type header struct {
	kind kind
	what int // root, modulo 1<<whatBits; else the operation's code and the way
	odd  bool
}

// Tags have 31 bits: notice 1, odd or cause 1, kind 5, what 10, number 14.
const (
	seqBits  = sched.NumberBits
	whatBits = 10
	kindBits = 5
	opBits   = 5
	wayBits  = whatBits - opBits

	whatShift = seqBits
	kindShift = whatShift + whatBits
	oddShift  = kindShift + kindBits
)

// withWay adds the number of the selected way: members with different lengths may select
// differently, and detect that where messages of theirs meet. With a root there is room for one
// bit: whether the way has a number other than 0.
func (h header) withWay(number int) header {
	if h.kind.rooted() {
		h.odd = number != 0
	} else {
		h.what |= number & (1<<wayBits - 1) << opBits
	}
	return h
}

// op is the operation's code, for a kind that names the operation.
func (h header) op() opCode { return opCode(h.what & (1<<opBits - 1)) }

// sameCall reports whether two headers differ at most in the way.
func (h header) sameCall(g header) bool {
	return h.kind == g.kind && (h.kind.rooted() && h.what == g.what || !h.kind.rooted() && h.op() == g.op())
}

func (h header) tag() int {
	t := h.what&(1<<whatBits-1)<<whatShift | int(h.kind)<<kindShift
	if h.odd {
		t |= 1 << oddShift
	}
	return t
}

func parse(tag int) header {
	return header{kind: kind(tag >> kindShift & (1<<kindBits - 1)), what: tag >> whatShift & (1<<whatBits - 1), odd: tag>>oddShift&1 == 1}
}

func (h header) String() string {
	switch {
	case h.kind.rooted():
		return fmt.Sprintf("%v (root %d)", h.kind, h.what)
	case h.kind.takesOp():
		return fmt.Sprintf("%v (%v)", h.kind, h.op())
	}
	return h.kind.String()
}

// A notice tells the others that a member's call failed for a reason that they cannot detect: a
// wrong argument, or lengths that differ. A member that waits for the sender gets the notice
// instead of data, fails, and notifies the others in turn. As all of them are in the same
// collective, each waits for members that either do their part or send a notice: no member waits
// for ever. A notice is a tag without data.
type notice struct {
	cause  cause
	kind   kind // the call of the sender
	origin int  // wrongArgument: rank of the error, modulo 1<<whatBits; missing: the rank, modulo missingBit
}

type cause uint8

const (
	wrongArgument cause = iota
	mismatch
	missing // a member is in Finalize
)

// missingBit tells missing from mismatch, which has no origin.
const missingBit = 1 << (whatBits - 1)

func (n notice) tag() int {
	h := header{kind: n.kind, odd: n.cause != wrongArgument}
	switch n.cause {
	case wrongArgument:
		h.what = n.origin & (1<<whatBits - 1)
	case missing:
		h.what = missingBit | n.origin&(missingBit-1)
	}
	return sched.Notice | h.tag()
}

func parseNotice(tag int) notice {
	h := parse(tag)
	switch {
	case !h.odd:
		return notice{wrongArgument, h.kind, h.what}
	case h.what&missingBit != 0:
		return notice{missing, h.kind, h.what &^ missingBit}
	}
	return notice{mismatch, h.kind, 0}
}
