//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// layers returns the layers that this processor runs, faster ones later. AVX2 loops leave less than
// 32 bytes to the layer below; AVX-512 loops take any number of bytes.
func layers() []layer {
	var ls []layer
	x := cpu.X86
	if x.HasAVX2 {
		ls = append(ls, layer{"AVX2", 32, avx2})
	}
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasBMI2 {
		ls = append(ls, layer{"AVX-512", 1, avx512})
	}
	return ls
}
