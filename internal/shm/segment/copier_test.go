package segment

import (
	"bytes"
	"testing"
	"time"
)

// TestCopierCopies: every length, from and to any place in a line, by both kinds of copy, without a
// change beside the destination.
func TestCopierCopies(t *testing.T) {
	const room, most = 4 * Line, 5 << 10
	memory := Heap(2*room+most).slice(0, 2*room+most)
	src := make([]byte, most+Line)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	for _, c := range []Copier{{until: 255}, {until: 0}, {until: 255, streams: true}, {until: 0, streams: true}} {
		for _, n := range []int{0, 1, 63, 64, 511, 512, 513, 1023, 1024, 1025, 1088, streamMin - 1, streamMin, streamMin + 1, 4096, most} {
			for at := range Line + 1 {
				for i := range memory {
					memory[i] = 0xEE
				}
				from, to := src[Line-at:][:n], memory[room+at:][:n]
				copier := c
				copier.Copy(to, from)
				if !bytes.Equal(to, from) {
					t.Fatalf("%+v: %d bytes to %d: wrong data", &c, n, at)
				}
				for i, b := range memory {
					if (i < room+at || i >= room+at+n) && b != 0xEE {
						t.Fatalf("%+v: %d bytes to %d: wrote beside it, at %d", &c, n, at, i-room-at)
					}
				}
			}
		}
	}
}

// TestCopierChanges: the kind of copy that a Copier uses after samples of a KiB.
func TestCopierChanges(t *testing.T) {
	const fast, slow = 100 * time.Nanosecond, 400 * time.Nanosecond
	var c Copier
	for i, s := range []struct {
		took    time.Duration
		streams bool
		until   uint8
	}{
		{fast, false, sampleEvery},
		{slow, false, 0}, // an interrupt, perhaps
		{fast, false, sampleEvery},
		{slow, false, 0},
		{slow, true, sampleEvery},
		{slow, true, sampleEvery},
		{fast, true, 0},
		{slow, true, sampleEvery},
		{fast, true, 0},
		{fast, false, sampleEvery},
	} {
		c.sampled(s.took)
		if c.streams != s.streams || c.until != s.until {
			t.Errorf("sample %d, of %v: streams %v, the next after %d; want %v, %d", i, s.took, c.streams, c.until, s.streams, s.until)
		}
	}
}

// TestCopierSamplesSeldom: one copy in 33 is sampled, by both kinds of copy. Short copies are never
// sampled, nor copies on machines with one kind.
func TestCopierSamplesSeldom(t *testing.T) {
	dst, src := make([]byte, streamMin), make([]byte, streamMin)
	for _, streams := range []bool{false, true} {
		c := Copier{until: sampleEvery, streams: streams}
		for range 100 {
			c.Copy(dst[:streamMin-1], src[:streamMin-1])
		}
		if c.until != sampleEvery {
			t.Errorf("short copies count: %d are left of %d", c.until, sampleEvery)
		}
		if !canStream {
			continue
		}
		for left := uint8(sampleEvery); left > 0; left-- {
			if c.until != left {
				t.Errorf("%d copies before the next sample, want %d", c.until, left)
			}
			c.Copy(dst, src)
		}
		if c.Copy(dst, src); c.until == 0 && !c.doubted {
			t.Error("no sample was taken")
		}
	}
}
