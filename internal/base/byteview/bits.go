package byteview

import "encoding/binary"

// BitsAt returns the number of size bytes, 1, 2, 4 or 8, at which b begins, as the lowest bits of a
// word.
func BitsAt(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

// SetBitsAt stores a number of size bytes, 1, 2, 4 or 8, at the beginning of b.
func SetBitsAt(b []byte, size int, bits uint64) {
	switch size {
	case 1:
		b[0] = byte(bits)
	case 2:
		binary.NativeEndian.PutUint16(b, uint16(bits))
	case 4:
		binary.NativeEndian.PutUint32(b, uint32(bits))
	default:
		binary.NativeEndian.PutUint64(b, bits)
	}
}
