//go:build !purego

package kernel

// avx512 lists the loops of avx512_amd64.s: needs AVX-512 F, BW, DQ and BMI2.
var avx512 = []vector{
	{Sum, []Elem{Float32, Complex64}, sumFloat32AVX512},
	{Prod, []Elem{Float32}, prodFloat32AVX512},
	{Max, []Elem{Float32}, maxFloat32AVX512},
	{Min, []Elem{Float32}, minFloat32AVX512},
	{Sum, []Elem{Float64, Complex128}, sumFloat64AVX512},
	{Prod, []Elem{Float64}, prodFloat64AVX512},
	{Max, []Elem{Float64}, maxFloat64AVX512},
	{Min, []Elem{Float64}, minFloat64AVX512},
	{Sum, []Elem{Int8, Uint8}, sumInt8AVX512},
	{Max, []Elem{Int8}, maxInt8AVX512},
	{Min, []Elem{Int8}, minInt8AVX512},
	{Max, []Elem{Uint8}, maxUint8AVX512},
	{Min, []Elem{Uint8}, minUint8AVX512},
	{Sum, []Elem{Int16, Uint16}, sumInt16AVX512},
	{Prod, []Elem{Int16, Uint16}, prodInt16AVX512},
	{Max, []Elem{Int16}, maxInt16AVX512},
	{Min, []Elem{Int16}, minInt16AVX512},
	{Max, []Elem{Uint16}, maxUint16AVX512},
	{Min, []Elem{Uint16}, minUint16AVX512},
	{Sum, []Elem{Int32, Uint32}, sumInt32AVX512},
	{Prod, []Elem{Int32, Uint32}, prodInt32AVX512},
	{Max, []Elem{Int32}, maxInt32AVX512},
	{Min, []Elem{Int32}, minInt32AVX512},
	{Max, []Elem{Uint32}, maxUint32AVX512},
	{Min, []Elem{Uint32}, minUint32AVX512},
	{Sum, []Elem{Int64, Uint64}, sumInt64AVX512},
	{Prod, []Elem{Int64, Uint64}, prodInt64AVX512},
	{Max, []Elem{Int64}, maxInt64AVX512},
	{Min, []Elem{Int64}, minInt64AVX512},
	{Max, []Elem{Uint64}, maxUint64AVX512},
	{Min, []Elem{Uint64}, minUint64AVX512},
	{BAnd, integers, andAVX512},
	{BOr, integers, orAVX512},
	{BXor, integers, xorAVX512},
}

//go:noescape
func sumFloat32AVX512(dst, acc, in *byte, n int)

//go:noescape
func prodFloat32AVX512(dst, acc, in *byte, n int)

//go:noescape
func maxFloat32AVX512(dst, acc, in *byte, n int)

//go:noescape
func minFloat32AVX512(dst, acc, in *byte, n int)

//go:noescape
func sumFloat64AVX512(dst, acc, in *byte, n int)

//go:noescape
func prodFloat64AVX512(dst, acc, in *byte, n int)

//go:noescape
func maxFloat64AVX512(dst, acc, in *byte, n int)

//go:noescape
func minFloat64AVX512(dst, acc, in *byte, n int)

//go:noescape
func sumInt8AVX512(dst, acc, in *byte, n int)

//go:noescape
func maxInt8AVX512(dst, acc, in *byte, n int)

//go:noescape
func minInt8AVX512(dst, acc, in *byte, n int)

//go:noescape
func maxUint8AVX512(dst, acc, in *byte, n int)

//go:noescape
func minUint8AVX512(dst, acc, in *byte, n int)

//go:noescape
func sumInt16AVX512(dst, acc, in *byte, n int)

//go:noescape
func prodInt16AVX512(dst, acc, in *byte, n int)

//go:noescape
func maxInt16AVX512(dst, acc, in *byte, n int)

//go:noescape
func minInt16AVX512(dst, acc, in *byte, n int)

//go:noescape
func maxUint16AVX512(dst, acc, in *byte, n int)

//go:noescape
func minUint16AVX512(dst, acc, in *byte, n int)

//go:noescape
func sumInt32AVX512(dst, acc, in *byte, n int)

//go:noescape
func prodInt32AVX512(dst, acc, in *byte, n int)

//go:noescape
func maxInt32AVX512(dst, acc, in *byte, n int)

//go:noescape
func minInt32AVX512(dst, acc, in *byte, n int)

//go:noescape
func maxUint32AVX512(dst, acc, in *byte, n int)

//go:noescape
func minUint32AVX512(dst, acc, in *byte, n int)

//go:noescape
func sumInt64AVX512(dst, acc, in *byte, n int)

//go:noescape
func prodInt64AVX512(dst, acc, in *byte, n int)

//go:noescape
func maxInt64AVX512(dst, acc, in *byte, n int)

//go:noescape
func minInt64AVX512(dst, acc, in *byte, n int)

//go:noescape
func maxUint64AVX512(dst, acc, in *byte, n int)

//go:noescape
func minUint64AVX512(dst, acc, in *byte, n int)

//go:noescape
func andAVX512(dst, acc, in *byte, n int)

//go:noescape
func orAVX512(dst, acc, in *byte, n int)

//go:noescape
func xorAVX512(dst, acc, in *byte, n int)
