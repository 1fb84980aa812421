package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A record in the log of a goroutine: the call, the time of the call, the answer, and the time of
// the return, which is stored last.
const (
	atKind = iota
	atCell
	atA
	atB
	atCalled
	atX
	atY
	atReturned // 0: not yet; failed: with an error
	recordWords
)

// A journal is the log of one process: a mapped file, which keeps all stores of a process that is
// killed, and which the others can read in every home.
type journal []uint64

func journalName(dir string, rank int) string { return filepath.Join(dir, fmt.Sprintf("rank%d", rank)) }

// newJournal makes the journal of a rank, with the given number of words, all zero.
func newJournal(dir string, rank, words int) (journal, error) {
	f, err := os.OpenFile(journalName(dir, rank), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(int64(8 * words)); err != nil {
		return nil, err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, 8*words, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("a journal of %d words: %w", words, err)
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), words), nil
}

// note stores words one after the other. The order matters if the process is killed between two.
func (j journal) note(at int, words ...uint64) {
	for i, v := range words {
		atomic.StoreUint64(&j[at+i], v)
	}
}

// close unmaps the memory; the file stays.
func (j journal) close() error {
	return unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&j[0])), 8*len(j)))
}

// readJournal returns the journal of a rank.
func readJournal(dir string, rank int) ([]uint64, error) {
	b, err := os.ReadFile(journalName(dir, rank))
	if err != nil {
		return nil, err
	}
	words := make([]uint64, len(b)/8)
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(b[8*i:])
	}
	return words, nil
}
