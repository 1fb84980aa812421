package segment

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestAhead: the pages that follow the user's position are present, twice as many each time up to
// the window. The pages of the neighbours are not.
func TestAhead(t *testing.T) {
	f, err := Create("ahead", 64*pageBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := Attach(f.Fd())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Detach()
	there := func() (pages int) {
		state := make([]byte, 64)
		if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m.bytes[0])), 64*pageBytes, uintptr(unsafe.Pointer(&state[0]))); errno != 0 {
			t.Fatal(errno)
		}
		for i, s := range state {
			if s&1 != 0 && (i < 4 || i >= 44) {
				t.Errorf("page %d is there, outside of the region", i)
			}
			pages += int(s & 1)
		}
		return pages
	}
	r := Region{m: m, off: 4*pageBytes + 3*Line, size: 40*pageBytes - 3*Line}
	const window = 3
	a := r.Ahead(window * pageBytes / aheadSteps)
	if n := there(); n != 0 {
		t.Fatalf("%d pages are there at first", n)
	}
	a.Reach(pageBytes)
	if n := there(); n != 0 {
		t.Errorf("%d pages were asked for, though one step touches one", n)
	}
	a.Reach(2*pageBytes - 3*Line)
	if there() == 0 {
		t.Skip("this kernel has no MADV_POPULATE_WRITE")
	}
	for _, c := range []struct{ at, pages int }{
		{2*pageBytes - 3*Line, 2},
		{4*pageBytes - 3*Line - 8, 2}, // the last word of those
		{4*pageBytes - 3*Line, 2 + window},
		{7*pageBytes - 3*Line, 2 + 2*window},
		{39 * pageBytes, 2 + 2*window + 40 - 39},
		{40 * pageBytes, 2 + 2*window + 40 - 39}, // behind the region
	} {
		a.Reach(c.at)
		if n := there(); n != c.pages {
			t.Errorf("at %d: %d pages are there, want %d", c.at, n, c.pages)
		}
	}
	for _, c := range []struct{ step, first, window int }{
		{8, pageBytes, pageBytes}, {pageBytes / 2, pageBytes, 8 * pageBytes}, {3 * pageBytes, 3 * pageBytes, aheadBytesMax}, {1 << 20, aheadBytesMax, aheadBytesMax},
	} {
		if got := r.Ahead(c.step); got.next != c.first || got.window != c.window {
			t.Errorf("for steps of %d bytes %d are asked for, then up to %d, want %d and %d", c.step, got.next, got.window, c.first, c.window)
		}
	}
	if h := HeapRegion(pageBytes).Ahead(8); h.r.size != 0 {
		t.Error("pages of Go memory are asked for")
	}
}
