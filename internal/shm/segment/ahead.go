package segment

// An Ahead gets the pages of a region from the kernel a few at a time, for a user who
// goes through it from the front. A page that is touched for the first time costs a
// fault, of 10 us on virtual machines that keep page tables of their own; sixteen that are
// asked for in one call cost as much as two. On others each costs 3 us either way: it is for
// pages that will be used. So it begins with what one step takes, a single page is left to who
// touches it, and then it asks for twice as many each time: a user may go no further, as one
// who needs a new communicator for a single operation, in the middle of a repair.
type Ahead struct {
	r      Region
	next   int // bytes to ask for at once
	window int // the most of them
	below  int // pages below are there, or somebody has touched them
}

// Ahead returns an Ahead of which nothing was asked for, of a user who takes so many
// bytes in each step: in the end it asks for what some steps take, so that one who takes few
// has little memory. The zero Ahead asks for nothing.
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

// Reach says that the user is about to touch what stands at off. It may be asked
// as often as one likes: where the page is there it costs a comparison.
func (a *Ahead) Reach(off int) {
	if off >= a.below && off < a.r.size {
		a.ask(off)
	}
}

// Cover says that the user is about to touch all that stands before off, of which it has
// touched what it could before: it is Reach for pieces of several pages.
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
