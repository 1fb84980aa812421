package plate

import "testing"

func TestBlocksCoverThePlate(t *testing.T) {
	for ny := 1; ny < 40; ny++ {
		for n := 1; n <= ny; n++ {
			next := 0
			for r := range n {
				b := Block(ny, n, r)
				if b.Lo != next || b.Rows() < 1 || b.Rows() > ny/n+1 {
					t.Fatalf("Block(%d, %d, %d) = %v after row %d", ny, n, r, b, next)
				}
				next = b.Hi
			}
			if next != ny {
				t.Fatalf("%d rows on %d ranks: the last block ends at %d", ny, n, next)
			}
		}
	}
}

// The cut of the plate must not change a bit of the result.
func TestSweepIsTheSameOnAnyCut(t *testing.T) {
	o := Options{NX: 11, NY: 13, Steps: 40}
	_, wantResidual, want := Reference(o)
	for n := 1; n <= o.NY; n++ {
		var blocks []*Grid
		for r := range n {
			blocks = append(blocks, New(o.NX, o.NY, Block(o.NY, n, r)))
		}
		residual := 0.0
		for range o.Steps {
			for r := 1; r < n; r++ {
				above, below := blocks[r-1], blocks[r]
				copy(above.Row(above.Hi), below.Row(below.Lo))
				copy(below.Row(below.Lo-1), above.Row(above.Hi-1))
			}
			residual = 0
			for _, b := range blocks {
				residual = max(residual, b.Sweep())
			}
		}
		sum := newChecksum(o.NX + 2)
		for _, b := range blocks {
			sum.add(b.Inner())
		}
		if got := sum.sum.Sum64(); got != want || residual != wantResidual {
			t.Errorf("%d blocks: checksum %x residual %x, want %x %x", n, got, residual, want, wantResidual)
		}
	}
}
