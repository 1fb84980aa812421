package root

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// disk is the persistent state of a master: its vote and the log. Both are small, because the log
// has one entry for each leader. So each change writes the whole file again.
type disk struct {
	path string

	mu  sync.Mutex
	now memory
}

// memory is the file, as JSON.
type memory struct {
	Values map[string][]byte
	Logs   []raft.Log // in the order of their indices
}

// fileMax bounds the file, in bytes.
const fileMax = 64 << 20

// openDisk reads the file, if there is one.
func openDisk(path string) (*disk, error) {
	d := &disk{path: path, now: memory{Values: map[string][]byte{}}}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, fileMax))
	if err == nil {
		d.now, err = decodeMemory(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func decodeMemory(data []byte) (m memory, err error) {
	r := json.NewDecoder(bytes.NewReader(data))
	r.DisallowUnknownFields()
	if err := r.Decode(&m); err != nil {
		return memory{}, err
	}
	if m.Values == nil {
		m.Values = map[string][]byte{}
	}
	for i, l := range m.Logs {
		if l.Index == 0 || i > 0 && l.Index <= m.Logs[i-1].Index {
			return memory{}, fmt.Errorf("root: entry %d is no log entry after %d", l.Index, i)
		}
	}
	return m, nil
}

// save writes a memory to the file and, on success, makes it the present one. The caller holds mu.
func (d *disk) save(m memory) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	err = checkpoint.Dir(filepath.Dir(d.path)).Put(context.Background(), filepath.Base(d.path), int64(len(data)), bytes.NewReader(data))
	if err == nil {
		d.now = m
	}
	return err
}

// Set stores a value.
func (d *disk) Set(key, value []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := memory{Values: map[string][]byte{string(key): bytes.Clone(value)}, Logs: d.now.Logs}
	for k, v := range d.now.Values {
		if k != string(key) {
			m.Values[k] = v
		}
	}
	return d.save(m)
}

// Get returns a value, or nil.
func (d *disk) Get(key []byte) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return bytes.Clone(d.now.Values[string(key)]), nil
}

// SetUint64 stores a number.
func (d *disk) SetUint64(key []byte, value uint64) error {
	return d.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 returns a number, or 0.
func (d *disk) GetUint64(key []byte) (uint64, error) {
	v, err := d.Get(key)
	if err != nil || len(v) != 8 {
		return 0, err
	}
	return binary.BigEndian.Uint64(v), nil
}

// FirstIndex returns the index of the first entry, or 0.
func (d *disk) FirstIndex() (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.now.Logs) == 0 {
		return 0, nil
	}
	return d.now.Logs[0].Index, nil
}

// LastIndex returns the index of the last entry, or 0.
func (d *disk) LastIndex() (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.now.Logs) == 0 {
		return 0, nil
	}
	return d.now.Logs[len(d.now.Logs)-1].Index, nil
}

// find returns the position of the entry with an index, or the position at which to insert it.
func (m memory) find(index uint64) (int, bool) {
	return slices.BinarySearchFunc(m.Logs, index, func(l raft.Log, index uint64) int {
		switch {
		case l.Index < index:
			return -1
		case l.Index > index:
			return 1
		}
		return 0
	})
}

// GetLog reads an entry.
func (d *disk) GetLog(index uint64, l *raft.Log) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, ok := d.now.find(index)
	if !ok {
		return raft.ErrLogNotFound
	}
	*l = d.now.Logs[i]
	return nil
}

// StoreLog stores an entry.
func (d *disk) StoreLog(l *raft.Log) error { return d.StoreLogs([]*raft.Log{l}) }

// StoreLogs stores entries, and replaces entries with the same indices.
func (d *disk) StoreLogs(list []*raft.Log) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := memory{Values: d.now.Values, Logs: slices.Clone(d.now.Logs)}
	for _, l := range list {
		i, there := m.find(l.Index)
		if there {
			m.Logs[i] = *l
		} else {
			m.Logs = slices.Insert(m.Logs, i, *l)
		}
	}
	return d.save(m)
}

// DeleteRange deletes the entries from first to last, both included.
func (d *disk) DeleteRange(first, last uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	logs := slices.DeleteFunc(slices.Clone(d.now.Logs), func(l raft.Log) bool { return first <= l.Index && l.Index <= last })
	return d.save(memory{Values: d.now.Values, Logs: logs})
}
