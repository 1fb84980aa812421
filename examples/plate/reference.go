package plate

import "math"

// Reference computes the whole plate without blocks, ghost rows or messages, and its checksum by
// the definition of FNV, for comparison in tests.
func Reference(o Options) (steps int, residual float64, checksum uint64) {
	plate := func() [][]float64 {
		p := make([][]float64, o.NY+2)
		for y := range p {
			p[y] = make([]float64, o.NX+2)
		}
		for x := range p[0] {
			p[0][x] = 1
		}
		return p
	}
	now, then := plate(), plate()
	residual = math.Inf(1)
	for steps < o.Steps && residual >= o.Tol {
		now, then = then, now
		residual = 0
		for y := 1; y <= o.NY; y++ {
			for x := 1; x <= o.NX; x++ {
				now[y][x] = 0.25 * (then[y-1][x] + then[y+1][x] + then[y][x-1] + then[y][x+1])
				residual = math.Max(residual, math.Abs(now[y][x]-then[y][x]))
			}
		}
		steps++
	}
	return steps, residual, sumOf(now[1 : o.NY+1])
}

func sumOf(cells [][]float64) uint64 {
	h := uint64(14695981039346656037)
	for _, row := range cells {
		for _, v := range row[1 : len(row)-1] {
			for bits, i := math.Float64bits(v), 0; i < 8; i++ {
				h = (h ^ bits>>(8*i)&0xff) * 1099511628211
			}
		}
	}
	return h
}
