package main

// A box is the unit cube, cut into nx, ny and nz trilinear elements (hex8) in x, y and z. Its nodes
// form planes of equal z, of which each rank has a block.
type box struct{ nx, ny, nz int }

func (b box) plane() int  { return (b.nx + 1) * (b.ny + 1) } // nodes of a plane
func (b box) planes() int { return b.nz + 1 }

// edge reports whether a node is on the surface, where the temperature is given.
func (b box) edge(x, y, z int) bool {
	return x == 0 || y == 0 || z == 0 || x == b.nx || y == b.ny || z == b.nz
}

// A matrix is the rows of this rank's nodes, in compressed form: row i has the entries start[i] to
// start[i+1]-1. Columns count from the plane below this rank's first one, which is another rank's.
type matrix struct {
	start, column []int
	value         []float64
}

// multiply computes the rows of y = A x; x has one plane more at each end.
func (m *matrix) multiply(y, x []float64) {
	for i := range y {
		sum := 0.0
		for k := m.start[i]; k < m.start[i+1]; k++ {
			sum += m.value[k] * x[m.column[k]]
		}
		y[i] = sum
	}
}

// element returns the matrices of one element: mass, and stiffness of the Laplacian. Both are
// products of those in one dimension, since the sides of the element are parallel.
func (b box) element() (mass, stiff [8][8]float64) {
	h := [3]float64{1 / float64(b.nx), 1 / float64(b.ny), 1 / float64(b.nz)}
	line := func(d, i, j int) (m, k float64) {
		if i == j {
			return h[d] / 3, 1 / h[d]
		}
		return h[d] / 6, -1 / h[d]
	}
	for i := range 8 {
		for j := range 8 {
			mx, kx := line(0, i&1, j&1)
			my, ky := line(1, i>>1&1, j>>1&1)
			mz, kz := line(2, i>>2, j>>2)
			mass[i][j] = mx * my * mz
			stiff[i][j] = kx*my*mz + mx*ky*mz + mx*my*kz
		}
	}
	return mass, stiff
}

// assemble makes the rows of the nodes in planes lo to hi-1, of M and of M/dt + K. Only elements
// that touch these planes are visited, and no other rank is involved.
func (b box) assemble(lo, hi int, dt float64) (mass, system *matrix) {
	mass, system = b.pattern(lo, hi), b.pattern(lo, hi)
	m, k := b.element()
	for z := max(lo-1, 0); z < min(hi, b.nz); z++ {
		for y := range b.ny {
			for x := range b.nx {
				for i := range 8 {
					iz := z + i>>2
					if iz < lo || iz >= hi {
						continue
					}
					row := (iz-lo)*b.plane() + (y+i>>1&1)*(b.nx+1) + x + i&1
					for j := range 8 {
						column := (z+j>>2-lo+1)*b.plane() + (y+j>>1&1)*(b.nx+1) + x + j&1
						mass.add(row, column, m[i][j])
						system.add(row, column, m[i][j]/dt+k[i][j])
					}
				}
			}
		}
	}
	return mass, system
}

// pattern returns the rows with their columns: up to 27 for a node, itself included.
func (b box) pattern(lo, hi int) *matrix {
	m := &matrix{start: []int{0}}
	for z := lo; z < hi; z++ {
		for y := range b.ny + 1 {
			for x := range b.nx + 1 {
				for cz := max(z-1, 0); cz <= min(z+1, b.nz); cz++ {
					for cy := max(y-1, 0); cy <= min(y+1, b.ny); cy++ {
						for cx := max(x-1, 0); cx <= min(x+1, b.nx); cx++ {
							m.column = append(m.column, (cz-lo+1)*b.plane()+cy*(b.nx+1)+cx)
						}
					}
				}
				m.start = append(m.start, len(m.column))
			}
		}
	}
	m.value = make([]float64, len(m.column))
	return m
}

func (m *matrix) add(row, column int, v float64) {
	for k := m.start[row]; k < m.start[row+1]; k++ {
		if m.column[k] == column {
			m.value[k] += v
			return
		}
	}
}
