package coll

import (
	"bytes"
	"fmt"

	"github.com/goulfm/goulfm/comm"
)

// vectors are the result and the input of a reduction: at least one number.
func vectors(w *comm.Comm, size int) (dst, src []float64) {
	src = numbers(w, max(1, size/8))
	return make([]float64, len(src)), src
}

// numbers is the input vector of a rank.
func numbers(w *comm.Comm, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(w.Rank() + i%7)
	}
	return v
}

// sums checks the sums of the numbers of the first n ranks, from element from on.
func sums(dst []float64, n, from int) error {
	for i, v := range dst {
		if want := float64(n*(n-1)/2 + n*((from+i)%7)); v != want {
			return fmt.Errorf("element %d is %v, want %v", from+i, v, want)
		}
	}
	return nil
}

// fill writes the part of that number. It copies the first period, which is much faster than value.
func fill(buf []byte, number int) {
	for i := range min(len(buf), period) {
		buf[i] = value(number, i)
	}
	for done := period; done < len(buf); done *= 2 {
		copy(buf[done:], buf[:done])
	}
}

// period is the number of bytes after which a part repeats.
const period = 255

// value is the byte at place i of a part. A buffer that nobody wrote is 0.
func value(number, i int) byte { return byte((number*37+i)%period + 1) }

// parts checks that the i-th part of buf is the part of number(i).
func parts(buf []byte, part int, number func(i int) int) error {
	for i := range len(buf) / max(part, 1) {
		if err := checkPart(buf[i*part:(i+1)*part], number(i)); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

// checkPart checks one period byte by byte, and then whether the part repeats.
func checkPart(buf []byte, number int) error {
	for i, b := range buf[:min(len(buf), period)] {
		if want := value(number, i); b != want {
			return fmt.Errorf("byte %d is %d, want %d", i, b, want)
		}
	}
	if len(buf) > period && !bytes.Equal(buf[period:], buf[:len(buf)-period]) {
		return fmt.Errorf("the bytes from %d on are not those before them", period)
	}
	return nil
}
