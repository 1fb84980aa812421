package sched

import "testing"

// FuzzBuilders verifies any builder for any shape: the first argument picks the
// builder, the second the order of events, flags the layout, whether the call is in
// place, and the nodes.
func FuzzBuilders(f *testing.F) {
	for i := range Algorithms() {
		f.Add(uint8(i), uint8(0), uint8(i+1), uint8(i/2), uint8(2*i), uint8(3), uint8(2), uint8(i), uint64(i))
	}
	f.Add(uint8(0), uint8(3), uint8(33), uint8(1), uint8(0), uint8(0), uint8(0), uint8(0), uint64(1))
	var v Verifier
	f.Fuzz(func(t *testing.T, alg, order, n, root, count, segment, radix, flags uint8, seed uint64) {
		all := Algorithms()
		a := &all[int(alg)%len(all)]
		c := Case{N: int(n)%70 + 1, Count: int(count), Segment: int(segment), Radix: int(radix) % 10, Seed: seed}
		if a.Verb.Rooted() {
			c.Root = int(root) % c.N
		}
		if blocks(a) {
			c.Count %= 8
		}
		if maps := nodeMaps(a, c.N); maps != nil && int(flags>>3) < len(maps) {
			c.Nodes = maps[flags>>3]
		}
		c.Layout, c.InPlace = min(Layout(flags%3), a.Blocks), flags&4 != 0 && a.InPlace
		if a.Even {
			c.N += c.N % 2
		}
		if a.Segmented && segment > 0 && c.Count/c.Segment > 40 {
			c.Segment = c.Count / 40
		}
		if !a.Fits(&c) {
			t.Fatalf("%s does not fit %+v", a.Name, c)
		}
		o := Order{Mode(order % 3), Pick(order / 3 % 3), seed}
		if err := v.Verify(a, &c, []Order{o}); err != nil {
			t.Fatalf("%s, %+v: %v", a.Name, c, err)
		}
	})
}
