package segment

// Transfers is how many large messages of one process can be under way straight
// between its memory and those of its peers. More of them go through the rings.
const Transfers = 128

const transferLines = 2

// A Transfer is the account of one large message that is copied from the memory of
// its sender into that of its receiver, by both of them: the receiver takes units
// of it from the front, the sender from the back. It lies in the sender's arena.
type Transfer struct {
	// Sender's line, but for Claims.
	Live   *uint64 // the message's handle while it stands; another value: it was taken back
	Pushed *uint64 // units that the sender has copied
	Unable *uint64 // not zero: the sender cannot write to the receiver, which copies those units, too
	// Claims are the units claimed, by one atomic addition each: the receiver's in the
	// lower half, the sender's in the upper. It is in the sender's line because that is
	// later than the receiver, whose first unit is claimed for it beforehand.
	Claims *uint64
	// Receiver's line.
	Answer *uint64 // twice the handle: the receiver copies; that plus one: it needs the sender no more
	Addr   *uint64 // where the message goes in the receiver's memory; 0: the sender is not to write
	Limit  *uint64 // bytes of it that the receiver has room for
}

func transfersOffset(procs int) int { return dirOffset(procs) + roundUp(procs*int(kinds)*8, Line) }

// Transfer returns the account of the given number, less than Transfers.
func (a *Arena) Transfer(number int) Transfer {
	at := transfersOffset(a.procs) + number*transferLines*Line
	return Transfer{
		Live: a.m.word64(at), Pushed: a.m.word64(at + 8), Unable: a.m.word64(at + 16), Claims: a.m.word64(at + 24),
		Answer: a.m.word64(at + Line), Addr: a.m.word64(at + Line + 8), Limit: a.m.word64(at + Line + 16),
	}
}
