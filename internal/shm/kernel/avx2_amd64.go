//go:build !purego

package kernel

// avx2 lists the loops of avx2_amd64.s: needs AVX2.
var avx2 = []vector{
	{Sum, []Elem{Float32, Complex64}, sumFloat32AVX2},
	{Prod, []Elem{Float32}, prodFloat32AVX2},
	{Max, []Elem{Float32}, maxFloat32AVX2},
	{Min, []Elem{Float32}, minFloat32AVX2},
	{Sum, []Elem{Float64, Complex128}, sumFloat64AVX2},
	{Prod, []Elem{Float64}, prodFloat64AVX2},
	{Max, []Elem{Float64}, maxFloat64AVX2},
	{Min, []Elem{Float64}, minFloat64AVX2},
	{Sum, []Elem{Int8, Uint8}, sumInt8AVX2},
	{Max, []Elem{Int8}, maxInt8AVX2},
	{Min, []Elem{Int8}, minInt8AVX2},
	{Max, []Elem{Uint8}, maxUint8AVX2},
	{Min, []Elem{Uint8}, minUint8AVX2},
	{Sum, []Elem{Int16, Uint16}, sumInt16AVX2},
	{Prod, []Elem{Int16, Uint16}, prodInt16AVX2},
	{Max, []Elem{Int16}, maxInt16AVX2},
	{Min, []Elem{Int16}, minInt16AVX2},
	{Max, []Elem{Uint16}, maxUint16AVX2},
	{Min, []Elem{Uint16}, minUint16AVX2},
	{Sum, []Elem{Int32, Uint32}, sumInt32AVX2},
	{Prod, []Elem{Int32, Uint32}, prodInt32AVX2},
	{Max, []Elem{Int32}, maxInt32AVX2},
	{Min, []Elem{Int32}, minInt32AVX2},
	{Max, []Elem{Uint32}, maxUint32AVX2},
	{Min, []Elem{Uint32}, minUint32AVX2},
	{Sum, []Elem{Int64, Uint64}, sumInt64AVX2},
	{Max, []Elem{Int64}, maxInt64AVX2},
	{Min, []Elem{Int64}, minInt64AVX2},
	{Max, []Elem{Uint64}, maxUint64AVX2},
	{Min, []Elem{Uint64}, minUint64AVX2},
	{BAnd, integers, andAVX2},
	{BOr, integers, orAVX2},
	{BXor, integers, xorAVX2},
	{LAnd, []Elem{Int8, Uint8, Bool}, both8AVX2},
	{LOr, []Elem{Int8, Uint8, Bool}, either8AVX2},
	{LXor, []Elem{Int8, Uint8, Bool}, odd8AVX2},
	{LAnd, []Elem{Int16, Uint16}, both16AVX2},
	{LOr, []Elem{Int16, Uint16}, either16AVX2},
	{LXor, []Elem{Int16, Uint16}, odd16AVX2},
	{LAnd, []Elem{Int32, Uint32}, both32AVX2},
	{LOr, []Elem{Int32, Uint32}, either32AVX2},
	{LXor, []Elem{Int32, Uint32}, odd32AVX2},
	{LAnd, []Elem{Int64, Uint64}, both64AVX2},
	{LOr, []Elem{Int64, Uint64}, either64AVX2},
	{LXor, []Elem{Int64, Uint64}, odd64AVX2},
}

//go:noescape
func sumFloat32AVX2(dst, acc, in *byte, n int)

//go:noescape
func prodFloat32AVX2(dst, acc, in *byte, n int)

//go:noescape
func maxFloat32AVX2(dst, acc, in *byte, n int)

//go:noescape
func minFloat32AVX2(dst, acc, in *byte, n int)

//go:noescape
func sumFloat64AVX2(dst, acc, in *byte, n int)

//go:noescape
func prodFloat64AVX2(dst, acc, in *byte, n int)

//go:noescape
func maxFloat64AVX2(dst, acc, in *byte, n int)

//go:noescape
func minFloat64AVX2(dst, acc, in *byte, n int)

//go:noescape
func sumInt8AVX2(dst, acc, in *byte, n int)

//go:noescape
func maxInt8AVX2(dst, acc, in *byte, n int)

//go:noescape
func minInt8AVX2(dst, acc, in *byte, n int)

//go:noescape
func maxUint8AVX2(dst, acc, in *byte, n int)

//go:noescape
func minUint8AVX2(dst, acc, in *byte, n int)

//go:noescape
func sumInt16AVX2(dst, acc, in *byte, n int)

//go:noescape
func prodInt16AVX2(dst, acc, in *byte, n int)

//go:noescape
func maxInt16AVX2(dst, acc, in *byte, n int)

//go:noescape
func minInt16AVX2(dst, acc, in *byte, n int)

//go:noescape
func maxUint16AVX2(dst, acc, in *byte, n int)

//go:noescape
func minUint16AVX2(dst, acc, in *byte, n int)

//go:noescape
func sumInt32AVX2(dst, acc, in *byte, n int)

//go:noescape
func prodInt32AVX2(dst, acc, in *byte, n int)

//go:noescape
func maxInt32AVX2(dst, acc, in *byte, n int)

//go:noescape
func minInt32AVX2(dst, acc, in *byte, n int)

//go:noescape
func maxUint32AVX2(dst, acc, in *byte, n int)

//go:noescape
func minUint32AVX2(dst, acc, in *byte, n int)

//go:noescape
func sumInt64AVX2(dst, acc, in *byte, n int)

//go:noescape
func maxInt64AVX2(dst, acc, in *byte, n int)

//go:noescape
func minInt64AVX2(dst, acc, in *byte, n int)

//go:noescape
func maxUint64AVX2(dst, acc, in *byte, n int)

//go:noescape
func minUint64AVX2(dst, acc, in *byte, n int)

//go:noescape
func andAVX2(dst, acc, in *byte, n int)

//go:noescape
func orAVX2(dst, acc, in *byte, n int)

//go:noescape
func xorAVX2(dst, acc, in *byte, n int)

//go:noescape
func both8AVX2(dst, acc, in *byte, n int)

//go:noescape
func either8AVX2(dst, acc, in *byte, n int)

//go:noescape
func odd8AVX2(dst, acc, in *byte, n int)

//go:noescape
func both16AVX2(dst, acc, in *byte, n int)

//go:noescape
func either16AVX2(dst, acc, in *byte, n int)

//go:noescape
func odd16AVX2(dst, acc, in *byte, n int)

//go:noescape
func both32AVX2(dst, acc, in *byte, n int)

//go:noescape
func either32AVX2(dst, acc, in *byte, n int)

//go:noescape
func odd32AVX2(dst, acc, in *byte, n int)

//go:noescape
func both64AVX2(dst, acc, in *byte, n int)

//go:noescape
func either64AVX2(dst, acc, in *byte, n int)

//go:noescape
func odd64AVX2(dst, acc, in *byte, n int)
