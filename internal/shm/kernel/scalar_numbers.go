package kernel

import (
	"math"
	"unsafe"
)

// The operations of numbers on bit patterns, by size and sign.
var (
	scalarSums = scalarRow{
		Int8: func(a, b uint64) uint64 { return (a + b) & math.MaxUint8 }, Uint8: func(a, b uint64) uint64 { return (a + b) & math.MaxUint8 },
		Int16: func(a, b uint64) uint64 { return (a + b) & math.MaxUint16 }, Uint16: func(a, b uint64) uint64 { return (a + b) & math.MaxUint16 },
		Int32: func(a, b uint64) uint64 { return (a + b) & math.MaxUint32 }, Uint32: func(a, b uint64) uint64 { return (a + b) & math.MaxUint32 },
		Int64: func(a, b uint64) uint64 { return a + b }, Uint64: func(a, b uint64) uint64 { return a + b },
		Float32:   func(a, b uint64) uint64 { return bits32(float32Of(a) + float32Of(b)) },
		Float64:   func(a, b uint64) uint64 { return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b)) },
		Complex64: func(a, b uint64) uint64 { return bitsComplex(complexOf(a) + complexOf(b)) },
	}
	scalarProducts = scalarRow{
		Int8: func(a, b uint64) uint64 { return a * b & math.MaxUint8 }, Uint8: func(a, b uint64) uint64 { return a * b & math.MaxUint8 },
		Int16: func(a, b uint64) uint64 { return a * b & math.MaxUint16 }, Uint16: func(a, b uint64) uint64 { return a * b & math.MaxUint16 },
		Int32: func(a, b uint64) uint64 { return a * b & math.MaxUint32 }, Uint32: func(a, b uint64) uint64 { return a * b & math.MaxUint32 },
		Int64: func(a, b uint64) uint64 { return a * b }, Uint64: func(a, b uint64) uint64 { return a * b },
		Float32:   func(a, b uint64) uint64 { return bits32(float32Of(a) * float32Of(b)) },
		Float64:   func(a, b uint64) uint64 { return math.Float64bits(math.Float64frombits(a) * math.Float64frombits(b)) },
		Complex64: func(a, b uint64) uint64 { return bitsComplex(product64(complexOf(a), complexOf(b))) },
	}
	scalarMaxima = scalarRow{
		Int8:  func(a, b uint64) uint64 { return uint64(uint8(max(int8(a), int8(b)))) },
		Int16: func(a, b uint64) uint64 { return uint64(uint16(max(int16(a), int16(b)))) },
		Int32: func(a, b uint64) uint64 { return uint64(uint32(max(int32(a), int32(b)))) },
		Int64: func(a, b uint64) uint64 { return uint64(max(int64(a), int64(b))) },
		Uint8: largest, Uint16: largest, Uint32: largest, Uint64: largest,
		Float32: func(a, b uint64) uint64 { return bits32(max(float32Of(a), float32Of(b))) },
		Float64: func(a, b uint64) uint64 {
			return math.Float64bits(max(math.Float64frombits(a), math.Float64frombits(b)))
		},
	}
	scalarMinima = scalarRow{
		Int8:  func(a, b uint64) uint64 { return uint64(uint8(min(int8(a), int8(b)))) },
		Int16: func(a, b uint64) uint64 { return uint64(uint16(min(int16(a), int16(b)))) },
		Int32: func(a, b uint64) uint64 { return uint64(uint32(min(int32(a), int32(b)))) },
		Int64: func(a, b uint64) uint64 { return uint64(min(int64(a), int64(b))) },
		Uint8: least, Uint16: least, Uint32: least, Uint64: least,
		Float32: func(a, b uint64) uint64 { return bits32(min(float32Of(a), float32Of(b))) },
		Float64: func(a, b uint64) uint64 {
			return math.Float64bits(min(math.Float64frombits(a), math.Float64frombits(b)))
		},
	}
)

func largest(a, b uint64) uint64 { return max(a, b) }
func least(a, b uint64) uint64   { return min(a, b) }

func float32Of(bits uint64) float32 { return math.Float32frombits(uint32(bits)) }
func bits32(f float32) uint64       { return uint64(math.Float32bits(f)) }

// A complex number lies in a word as in memory.
func complexOf(bits uint64) complex64 { return *(*complex64)(unsafe.Pointer(&bits)) }
func bitsComplex(c complex64) uint64  { return *(*uint64)(unsafe.Pointer(&c)) }
