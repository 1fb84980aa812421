package boot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/goulfm/goulfm/internal/net/transport/tcp"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A TableFile is the Table that the daemon of a node publishes to its processes. The table is a
// file in memory, to which the daemon appends Rows, one line of JSON each, when nodes come late.
// A process that needs a slot of unknown address reads on from its last position. A line without
// its end is ignored until the end is there.
//
//	daemon                                     process
//	Table ⏎
//	                                           reads, at its start
//	Row ⏎      the launcher hears
//	           starts a process in the row ──▶ wants to reach it: reads on
type TableFile struct {
	file *os.File // of the daemon
	read *os.File // of the processes, read-only
	size int64
}

// A Row locates the slots of a node that came late.
type Row struct {
	Slots  []int    `json:"seats"`
	Addrs  []string `json:"addrs"`  // in the order of Slots
	Births []uint64 `json:"births"` // likewise
}

// NewTableFile creates a TableFile that holds t.
func NewTableFile(t Table) (*TableFile, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	f, err := segment.CreateGrowing("goulfm-table")
	if err != nil {
		return nil, err
	}
	read, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("table of the job's processes: %w", err)
	}
	file := &TableFile{file: f, read: read}
	return file, file.append(text)
}

// File returns the file that processes read.
func (f *TableFile) File() *os.File { return f.read }

// Add appends a row. Only one goroutine may call Add at a time.
func (f *TableFile) Add(r Row) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return f.append(text)
}

func (f *TableFile) append(line []byte) error {
	n, err := f.file.WriteAt(append(line, '\n'), f.size)
	f.size += int64(n)
	if err != nil {
		return fmt.Errorf("table of the job's processes: %w", err)
	}
	return nil
}

// check returns the fault of a row in a table of procs slots, or nil.
func (r *Row) check(procs int) error {
	if len(r.Addrs) != len(r.Slots) || len(r.Births) != len(r.Slots) || slices.ContainsFunc(r.Slots, func(slot int) bool { return slot < 0 || slot >= procs }) {
		return fmt.Errorf("row of slots %v of %d, with %d addresses and %d births", r.Slots, procs, len(r.Addrs), len(r.Births))
	}
	return nil
}

// A tableReader is a process's view of a TableFile.
type tableReader struct {
	mu   sync.Mutex
	file *os.File
	at   int64 // the offset up to which the file was read
	t    *Table
}

// openTable reads the whole lines of a descriptor. All processes of a node share one file and its
// offset, so a tableReader keeps an offset of its own.
func openTable(fd int) (*tableReader, error) {
	r := &tableReader{file: os.NewFile(uintptr(fd), "table"), t: &Table{}}
	lines, err := r.next()
	switch {
	case err != nil:
		return nil, badDescriptor(fd, aTable, err)
	case len(lines) == 0:
		return nil, badDescriptor(fd, aTable, errEmpty)
	}
	err = json.Unmarshal(lines[0], r.t)
	if err == nil {
		err = r.t.Check(len(r.t.Addrs))
	}
	if err == nil {
		err = r.take(lines[1:])
	}
	if err != nil {
		return nil, fmt.Errorf("descriptor %d, %s: %w: %s", fd, aTable, err, ours)
	}
	return r, nil
}

const aTable = "the table of the job's processes"

var errEmpty = errors.New("it is empty")

// next returns the whole lines that were not read yet.
func (r *tableReader) next() (lines [][]byte, err error) {
	text, err := io.ReadAll(io.NewSectionReader(r.file, r.at, tableMax))
	if err != nil {
		return nil, err
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	r.at += int64(end)
	return slices.DeleteFunc(bytes.Split(text[:end], []byte("\n")), func(line []byte) bool { return len(line) == 0 }), nil
}

// take enters rows.
func (r *tableReader) take(lines [][]byte) error {
	for _, line := range lines {
		var row Row
		err := json.Unmarshal(line, &row)
		if err == nil {
			err = row.check(len(r.t.Addrs))
		}
		if err != nil {
			return err
		}
		for i, slot := range row.Slots {
			r.t.Addrs[slot], r.t.Births[slot] = row.Addrs[i], row.Births[i]
		}
	}
	return nil
}

// peers returns the locations of all slots, as far as they are known.
func (r *tableReader) peers() []tcp.Peer {
	all := make([]tcp.Peer, len(r.t.Addrs))
	for slot := range all {
		all[slot] = tcp.Peer{Addr: r.t.Addrs[slot], Birth: r.t.Births[slot]}
	}
	return all
}

// find returns the location of a slot whose node came late; ok is false while it is not known.
func (r *tableReader) find(slot int) (p tcp.Peer, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.t.Addrs[slot] == "" {
		if lines, err := r.next(); err == nil {
			_ = r.take(lines) // a row that cannot be read adds no address
		}
	}
	return tcp.Peer{Addr: r.t.Addrs[slot], Birth: r.t.Births[slot]}, r.t.Addrs[slot] != ""
}

// finder returns find, or nil if no node can come late; then the file is closed.
func (r *tableReader) finder() func(slot int) (tcp.Peer, bool) {
	if slices.Contains(r.t.Addrs, "") {
		return r.find
	}
	r.file.Close()
	return nil
}

const tableMax = 64 << 20
