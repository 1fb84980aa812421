package segment

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Create makes a sealed sparse memfd of the given size. The memfd has no name, nobody can shrink it
// under a reader, and it ends with its last user.
func Create(name string, size int) (*os.File, error) {
	return create(name, size, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
}

// CreateGrowing makes an empty memfd that grows, and never shrinks under a reader.
func CreateGrowing(name string) (*os.File, error) {
	return create(name, 0, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
}

func create(name string, size int, seals int) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("shared memory %s: memfd_create: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		f.Close()
		return nil, tooLarge(name, size, err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		f.Close()
		return nil, fmt.Errorf("shared memory %s: seal: %w", name, err)
	}
	return f, nil
}

// tooLarge is the error of a memfd that does not get its size. The limit of the size of files
// applies to memory, too.
func tooLarge(name string, size int, err error) error {
	var limit unix.Rlimit
	if errors.Is(err, unix.EFBIG) && unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && limit.Cur < uint64(size) {
		return fmt.Errorf("shared memory %s needs %d KiB, the limit of the size of files is %d: raise it (ulimit -f unlimited): %w", name, (size+1023)>>10, limit.Cur>>10, err)
	}
	return fmt.Errorf("shared memory %s: %d bytes: %w", name, size, err)
}

// Attach maps all of the memfd behind fd. It refuses a memfd without a seal against shrinking:
// another process could shrink it, and the next access would be fatal.
func Attach(fd uintptr) (Memory, error) { return AttachPart(fd, 0, -1) }

// AttachPart maps size bytes of the memfd behind fd from off on, a multiple of the page size; -1:
// all bytes that follow.
func AttachPart(fd uintptr, off int64, size int) (Memory, error) {
	seals, err := unix.FcntlInt(fd, unix.F_GET_SEALS, 0)
	if err != nil {
		return Memory{}, fmt.Errorf("shared memory: descriptor %d is no memfd: %w", fd, err)
	}
	if seals&unix.F_SEAL_SHRINK == 0 {
		return Memory{}, fmt.Errorf("shared memory: descriptor %d is not sealed (seals %#x)", fd, seals)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(fd), &st); err != nil {
		return Memory{}, fmt.Errorf("shared memory: descriptor %d: %w", fd, err)
	}
	if size < 0 {
		size = int(st.Size - off)
	}
	if off < 0 || size <= 0 || off > st.Size-int64(size) {
		return Memory{}, fmt.Errorf("shared memory: %d bytes at %d of %d", size, off, st.Size)
	}
	b, err := unix.Mmap(int(fd), off, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return Memory{}, fmt.Errorf("shared memory: map %d bytes: %w", size, err)
	}
	return Memory{bytes: b, mapped: true}, nil
}

// Detach unmaps a Memory that Attach returned.
func (m Memory) Detach() error { return unix.Munmap(m.bytes) }

// populate makes pages of shared memory ready for stores. Kernels before 5.14 do not support this;
// there each page is allocated at its first touch.
func populate(b []byte) { _ = unix.Madvise(b, unix.MADV_POPULATE_WRITE) }
