package window

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// populateMax is the length up to which all pages of a Region are populated from the beginning.
const populateMax = 64 << 20

// Map returns a Region of n zeroed bytes for processes. With populate, Map allocates all pages at
// once. Otherwise, if memory runs out, the process that first touches a page is killed.
func Map(n int, populate bool) (*Region, error) {
	f, err := segment.Create("goulfm-window", headBytes+roundUp(max(n, 1), 8))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("window memory: %w", err)
	}
	r := &Region{token: newToken(), fd: fd}
	if err := r.mapAll(headBytes + roundUp(max(n, 1), 8)); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	if populate || n <= populateMax {
		// EINVAL: an old kernel without this advice.
		if err := unix.Madvise(r.mapped, unix.MADV_POPULATE_WRITE); err != nil && err != unix.EINVAL {
			r.unmap()
			return nil, fmt.Errorf("window memory: %d bytes: %w", n, err)
		}
	}
	binary.NativeEndian.PutUint64(r.mapped, r.token[0])
	binary.NativeEndian.PutUint64(r.mapped[8:], r.token[1])
	return r, nil
}

// Offer returns the address of the owner's Region.
func (r *Region) Offer() Offer {
	o := Offer{Token: r.token, Bytes: uint64(len(r.body))}
	if r.mapped != nil {
		o.Pid, o.Fd = uint64(os.Getpid()), uint64(r.fd)
	}
	return o
}

// Find maps the Region that another process has offered.
func Find(o Offer) (*Region, error) {
	if o.Bytes > 1<<62 || o.Bytes%8 != 0 || o.Bytes == 0 {
		return nil, ErrForeign
	}
	fd, err := unix.Open("/proc/"+strconv.FormatUint(o.Pid, 10)+"/fd/"+strconv.FormatUint(o.Fd, 10), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("window memory of process %d: %w", o.Pid, err)
	}
	defer unix.Close(fd)
	const sealed = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW
	var st unix.Stat_t
	switch seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0); {
	case err != nil || seals&sealed != sealed:
		return nil, ErrForeign
	case unix.Fstat(fd, &st) != nil || st.Size != int64(o.Bytes)+headBytes:
		return nil, ErrForeign
	}
	r := &Region{token: o.Token, fd: fd}
	err = r.mapAll(int(st.Size))
	r.fd = -1 // only the owner offers the Region
	if err != nil {
		return nil, err
	}
	if binary.NativeEndian.Uint64(r.mapped) != o.Token[0] || binary.NativeEndian.Uint64(r.mapped[8:]) != o.Token[1] {
		r.unmap()
		return nil, ErrForeign
	}
	return r, nil
}

func (r *Region) mapAll(size int) error {
	b, err := unix.Mmap(r.fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("window memory: map %d bytes: %w", size, err)
	}
	r.mapped, r.body = b, b[headBytes:]
	r.users.Store(1)
	return nil
}

// unmap frees the pages and keeps their addresses reserved.
func (r *Region) unmap() {
	if r.mapped == nil {
		return
	}
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
		r.fd = -1
	}
	fence(r.mapped)
}

// fence replaces a mapping by an inaccessible mapping without memory.
func fence(b []byte) {
	_, _ = unix.MmapPtr(-1, 0, addressOf(b), uintptr(len(b)), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED|unix.MAP_NORESERVE)
}
