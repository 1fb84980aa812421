package kron

import "sync"

// The random numbers are those of L'Ecuyer, Blouin and Couture (1993): each is a linear combination
// of the fifth and the first of the last five, modulo 2^31-1. A jump of n steps multiplies the
// state by the n-th power of a matrix.

// m is the modulus, and the number of possible outputs.
const m = 1<<31 - 1

// state is the last five outputs, the newest first.
type state [5]uint32

type matrix [5][5]uint32

// next makes a step and returns its output.
func (s *state) next() uint32 {
	x := uint32((107374182*uint64(s[0]) + 104480*uint64(s[4])) % m)
	*s = state{x, s[0], s[1], s[2], s[3]}
	return x
}

// double returns a number in [0, 1), made of two outputs.
func (s *state) double() float64 {
	high := float64(s.next()) * 4.65661287524579692e-10
	low := float64(s.next()) * 2.168404346990492787e-19
	return high + low
}

// A distance is a number of steps below 2^192, its low word first.
type distance [3]uint64

// jump makes n steps at once.
func (s *state) jump(n distance) {
	t := jumps()
	for k := range t {
		if b := n[k/8] >> (8 * (k % 8)) & 255; b != 0 {
			*s = t[k][b].of(*s)
		}
	}
}

// jumps holds the matrices of b * 256^k steps, at [k][b].
var jumps = sync.OnceValue(func() *[24][256]matrix {
	one := matrix{{107374182, 0, 0, 0, 104480}}
	for i := 1; i < 5; i++ {
		one[i][i-1] = 1
	}
	var t [24][256]matrix
	for k := range t {
		t[k][1] = one
		for b := 2; b < 256; b++ {
			t[k][b] = t[k][b-1].times(&one)
		}
		one = t[k][255].times(&one)
	}
	return &t
})

func (a *matrix) times(b *matrix) (c matrix) {
	for i := range 5 {
		for j := range 5 {
			sum := uint64(0)
			for k := range 5 {
				sum += uint64(a[i][k]) * uint64(b[k][j]) % m
			}
			c[i][j] = uint32(sum % m)
		}
	}
	return c
}

func (a *matrix) of(s state) (out state) {
	for i := range 5 {
		sum := uint64(0)
		for k := range 5 {
			sum += uint64(a[i][k]) * uint64(s[k]) % m
		}
		out[i] = uint32(sum % m)
	}
	return out
}
