//go:build !purego

package kernel

// layers returns NEON, which every arm64 processor that Go supports has. Its loops
// leave less than 16 bytes to the plain ones.
func layers() []layer { return []layer{{"NEON", 16, neon}} }
