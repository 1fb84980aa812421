package rankstore

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Create makes a Memory for processes. It uses memory only for written chunks.
func Create(homes int) (*Memory, error) {
	if homes < 1 || homes > HomesMax {
		return nil, fmt.Errorf("keep: %d homes: 1 to %d", homes, HomesMax)
	}
	f, err := segment.Create("goulfm-keep", int(sizeOf(homes)))
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(head(homes), 0); err != nil {
		return nil, errors.Join(fmt.Errorf("keep: %w", err), f.Close())
	}
	m, err := Open(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return m, nil
}

// Open returns the Memory in f. The Memory owns f from then on, unless Open returns an error.
func Open(f *os.File) (*Memory, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	b := make([]byte, headBytes)
	if _, err := f.ReadAt(b, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	homes, err := readHead(b, st.Size)
	if err != nil {
		return nil, err
	}
	words, err := segment.AttachPart(f.Fd(), 0, ownersAt(homes))
	if err != nil {
		return nil, err
	}
	all := &file{File: f, windows: map[int64]segment.Memory{}}
	unmap := func() error { return errors.Join(words.Detach(), all.unmap()) }
	return &Memory{store: all, owners: words.Region().Sub(headBytes, wordBytes*homes), homes: homes, file: f, unmap: unmap}, nil
}

// A file is a store behind a descriptor.
type file struct {
	*os.File
	mu      sync.Mutex
	windows map[int64]segment.Memory // by offset / windowBytes
}

// windowBytes is the unit of mapping at first use. A mapping takes addresses, but no memory.
const windowBytes = 1 << 30

// Mapped maps a window, and populates all pages of a chunk with one call, which avoids a fault for
// each page.
func (f *file) Mapped(off int64, first bool) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, ok := f.windows[off/windowBytes]
	if !ok {
		var err error
		if w, err = segment.AttachPart(f.Fd(), off/windowBytes*windowBytes, windowBytes); err != nil {
			return nil // no addresses are left
		}
		f.windows[off/windowBytes] = w
	}
	b := w.Region().Bytes(int(off%windowBytes), chunkBytes)
	if first && unix.Madvise(b, unix.MADV_POPULATE_WRITE) == unix.EFAULT {
		return nil // no memory
	}
	return b
}

func (f *file) unmap() (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.windows {
		err = errors.Join(err, w.Detach())
	}
	return err
}

// Punch frees the memory of whole pages.
func (f *file) Punch(off, n int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
}

// Taken returns the memory of the pages of the file.
func (f *file) Taken() (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return 0, fmt.Errorf("keep: %w", err)
	}
	return st.Blocks * 512, nil
}
