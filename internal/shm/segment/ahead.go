package segment

// An Ahead requests the pages of a region from the kernel a few at a time, for a user that goes
// through the region from the front.
//
// The first touch of a page costs a fault: 10 us on virtual machines that keep page tables of their
// own. There, sixteen pages requested in one call cost as much as two faults. On other machines
// each page costs 3 us either way, so an Ahead should request only pages that will be used. It
// begins with the pages of one step, leaves a single page to the first touch, and then requests
// twice as many each time. The user may stop early: for example a rank that needs a new
// communicator for a single operation, in the middle of a repair.
type Ahead struct {
	r      Region
	next   int // bytes of the next request
	window int // the most bytes of one request
	below  int // the pages below are present, or were touched
}

// Ahead returns an Ahead that has requested nothing, for a user that takes stepBytes in each step.
// In the end a request covers several steps, so a user with small steps holds little memory. The
// zero Ahead requests nothing.
func (r Region) Ahead(stepBytes int) Ahead {
	if !r.m.mapped {
		return Ahead{}
	}
	atOnce := func(bytes int) int { return max(pageBytes, min(bytes, aheadBytesMax)) }
	return Ahead{r: r, next: atOnce(stepBytes), window: atOnce(aheadSteps * stepBytes)}
}

const (
	pageBytes     = 4 << 10
	aheadSteps    = 16
	aheadBytesMax = 64 << 10
)

// Reach announces that the user is about to touch the bytes at off. A call costs one comparison
// where the page is present.
func (a *Ahead) Reach(off int) {
	if off >= a.below && off < a.r.size {
		a.ask(off)
	}
}

// Cover announces that the user is about to touch all bytes before off. It is Reach for pieces of
// several pages.
func (a *Ahead) Cover(off int) {
	for a.below < off && a.below < a.r.size {
		a.ask(a.below)
	}
}

func (a *Ahead) ask(off int) {
	from := (a.r.off + off) &^ (pageBytes - 1)
	to := min(roundUp(from+a.next, pageBytes), a.r.off+a.r.size)
	if a.next > pageBytes {
		populate(a.r.m.bytes[from:to])
	}
	a.below, a.next = to-a.r.off, min(2*a.next, a.window)
}
