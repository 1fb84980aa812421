package segment

// Transfers is how many large messages of one process can be under way straight between its memory
// and the memory of its peers. Further messages use the rings.
const Transfers = 128

const transferLines = 2

// A Transfer is the account of one large message that both its sender and its receiver copy, from
// the sender's memory into the receiver's. The receiver takes units from the front, the sender from
// the back. The account lies in the sender's arena.
type Transfer struct {
	// Sender's line, apart from Claims.
	Live   *uint64 // the message's handle while the message is valid; another value: taken back
	Pushed *uint64 // units that the sender has copied
	Unable *uint64 // not zero: the sender cannot write to the receiver, which copies those units, too
	// Claims are the units claimed, by one atomic addition each: the receiver's in the lower half,
	// the sender's in the upper. Claims is in the sender's line because the sender claims later
	// than the receiver, whose first unit is claimed beforehand.
	Claims *uint64
	// Receiver's line.
	Answer *uint64 // twice the handle: the receiver copies; one more: the receiver is done with the sender
	Addr   *uint64 // the destination in the receiver's memory; 0: the sender must not write
	Limit  *uint64 // bytes of the message that the receiver has room for
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
