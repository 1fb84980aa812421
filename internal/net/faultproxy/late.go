package faultproxy

import (
	"io"
	"slices"
	"time"
)

// A piece is the result of one Read, and the time at which it is due.
type piece struct {
	due   time.Time
	bytes []byte
	err   error // behind the bytes
}

// piecesMax bounds the pieces in a delay.
const piecesMax = 256

// late returns a function that returns the data of from, each piece late by a delay, and an error
// after the last piece. Without a delay the bytes are valid until the next call.
func late(from io.Reader, delay time.Duration) func() ([]byte, error) {
	buf := make([]byte, 64<<10)
	if delay == 0 {
		return func() ([]byte, error) {
			n, err := from.Read(buf)
			return buf[:n], err
		}
	}
	pieces := make(chan piece, piecesMax)
	go func() {
		defer close(pieces)
		for {
			n, err := from.Read(buf)
			pieces <- piece{time.Now().Add(delay), slices.Clone(buf[:n]), err}
			if err != nil {
				return
			}
		}
	}()
	return func() ([]byte, error) {
		p := <-pieces
		time.Sleep(time.Until(p.due))
		return p.bytes, p.err
	}
}
