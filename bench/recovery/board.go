package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A board is a file that all processes of a job have mapped: the data of a process stay when the
// process is killed. The board has two moments for each death, in ns: when the victim was about to
// die, and when rank 0 had left the first barrier of the repaired world.
type board struct{ slots []byte }

const slotBytes = 8

// makeBoard makes the file for the given number of deaths.
func makeBoard(name string, deaths int) error {
	return os.WriteFile(name, make([]byte, 2*slotBytes*deaths), 0o600)
}

func openBoard(name string) (board, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return board{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return board{}, err
	}
	slots, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return board{}, fmt.Errorf("map %s: %w", name, err)
	}
	return board{slots}, nil
}

func (b board) set(slot int, ns int64) {
	binary.LittleEndian.PutUint64(b.slots[slot*slotBytes:], uint64(ns))
}

// readBoard returns how long after each death the world was repaired, in ms.
func readBoard(name string) (took []float64, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for at := 0; at < len(text); at += 2 * slotBytes {
		died, back := int64(binary.LittleEndian.Uint64(text[at:])), int64(binary.LittleEndian.Uint64(text[at+slotBytes:]))
		if died == 0 || back <= died {
			return nil, fmt.Errorf("death %d: died at %d ns, repaired at %d", at/2/slotBytes, died, back)
		}
		took = append(took, float64(back-died)/1e6)
	}
	return took, nil
}

// nowNs is CLOCK_MONOTONIC.
func nowNs() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // this clock exists on every Linux
	return t.Nano()
}
