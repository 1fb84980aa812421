package rankstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/internal/base/failpoint"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

const (
	magic  = "GULFKEEP"
	format = 1

	headBytes = 64
	wordBytes = 8

	homeBits  = 36 // of the bytes of a home
	homeBytes = 1 << homeBits

	// HomesMax bounds the homes of a memory: their words are read one by one.
	HomesMax = 1 << 16
)

var (
	// ErrForeign means that a descriptor does not belong to a Memory.
	ErrForeign = errors.New("keep: not a node memory")
	// ErrOwned means that the home has another owner, which may be dead but has not been reaped
	// yet.
	ErrOwned = errors.New("keep: the home has another owner")
	// ErrTorn means that the stored bytes differ from the written bytes.
	ErrTorn = errors.New("keep: torn")
	// ErrNone means that there is no such version.
	ErrNone = errors.New("keep: no such version")
	// ErrNoRoom means that a version does not fit. Nothing was written.
	ErrNoRoom = errors.New("keep: no room")
)

// A store holds the bytes of a memory. Bytes that were never written read as zeros, and so do whole
// pages that were punched.
type store interface {
	ReadAt(b []byte, off int64) (int, error)
	WriteAt(b []byte, off int64) (int, error)
	Punch(off, n int64) error
	Taken() (int64, error) // bytes of memory

	// Mapped returns a chunk as memory; nil: the chunk must be read and written by calls. first:
	// this is the first Mapped of the chunk since it was written. Only the owner may call Mapped,
	// and only for chunks that have their memory: for other chunks a machine without free memory
	// would end the process.
	Mapped(off int64, first bool) []byte
}

// A Memory is the node memory of a job. Any goroutine may call its methods at any time.
type Memory struct {
	store  store
	owners segment.Region // a word for each home
	homes  int
	file   *os.File     // nil: on the Go heap
	unmap  func() error // the words and the store
}

// Heap returns a Memory of Go memory.
func Heap(homes int) *Memory {
	return &Memory{store: newHeap(), owners: segment.HeapRegion(wordBytes * homes), homes: homes}
}

// File returns the file of a memory, for processes that Open it; nil: on the Go heap.
func (m *Memory) File() *os.File { return m.file }

// Close ends the use of a memory by this process.
func (m *Memory) Close() error {
	if m.file == nil {
		return nil
	}
	return errors.Join(m.unmap(), m.file.Close())
}

// Taken returns the bytes of memory that all homes take.
func (m *Memory) Taken() (int64, error) { return m.store.Taken() }

// Homes returns the number of homes.
func (m *Memory) Homes() int { return m.homes }

// Home returns home h for a process to use; nil: there is none.
func (m *Memory) Home(h int) *Home {
	if h < 0 || h >= m.homes {
		return nil
	}
	return &Home{m: m, number: h, begin: int64(h+1) << homeBits}
}

func (m *Memory) owner(h int) *uint64 { return m.owners.Word(wordBytes * h) }

// Release frees the homes of a process. The daemon calls it when it has reaped the process.
func (m *Memory) Release(proc int) {
	for h := range m.homes {
		if segment.Load64(m.owner(h)) == uint64(proc)+1 {
			segment.CompareAndSwap64(m.owner(h), uint64(proc)+1, 0)
		}
	}
}

// head is the beginning of a file.
func head(homes int) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), format)
	b = binary.LittleEndian.AppendUint32(b, uint32(homes))
	return append(b, make([]byte, ownersAt(homes)-len(b))...)
}

// readHead returns the number of homes of a file of size bytes that begins with b.
func readHead(b []byte, size int64) (homes int, err error) {
	if len(b) < 16 || string(b[:8]) != magic || binary.LittleEndian.Uint32(b[8:]) != format {
		return 0, ErrForeign
	}
	homes = int(binary.LittleEndian.Uint32(b[12:]))
	if homes < 1 || homes > HomesMax || size != sizeOf(homes) {
		return 0, fmt.Errorf("%w: %d homes in %d bytes", ErrForeign, homes, size)
	}
	return homes, nil
}

// ownersAt returns the end of the words of the owners.
func ownersAt(homes int) int { return headBytes + wordBytes*homes }

func sizeOf(homes int) int64 { return int64(homes+1) << homeBits }

// put is a store into the memory. Others see all of the store, or a part if the process dies.
func (m *Memory) put(b []byte, off int64) error {
	if failpoint.Counting {
		failpoint.Here()
	}
	_, err := m.store.WriteAt(b, off)
	return err
}
