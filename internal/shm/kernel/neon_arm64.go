//go:build !purego

package kernel

// neon lists the loops of neon_arm64.s: every arm64 processor can run them.
var neon = []vector{
	{Sum, []Elem{Float32, Complex64}, sumFloat32NEON},
	{Prod, []Elem{Float32}, prodFloat32NEON},
	{Max, []Elem{Float32}, maxFloat32NEON},
	{Min, []Elem{Float32}, minFloat32NEON},
	{Sum, []Elem{Float64, Complex128}, sumFloat64NEON},
	{Prod, []Elem{Float64}, prodFloat64NEON},
	{Max, []Elem{Float64}, maxFloat64NEON},
	{Min, []Elem{Float64}, minFloat64NEON},
	{Sum, []Elem{Int8, Uint8}, sumInt8NEON},
	{Prod, []Elem{Int8, Uint8}, prodInt8NEON},
	{Max, []Elem{Int8}, maxInt8NEON},
	{Min, []Elem{Int8}, minInt8NEON},
	{Max, []Elem{Uint8}, maxUint8NEON},
	{Min, []Elem{Uint8}, minUint8NEON},
	{Sum, []Elem{Int16, Uint16}, sumInt16NEON},
	{Prod, []Elem{Int16, Uint16}, prodInt16NEON},
	{Max, []Elem{Int16}, maxInt16NEON},
	{Min, []Elem{Int16}, minInt16NEON},
	{Max, []Elem{Uint16}, maxUint16NEON},
	{Min, []Elem{Uint16}, minUint16NEON},
	{Sum, []Elem{Int32, Uint32}, sumInt32NEON},
	{Prod, []Elem{Int32, Uint32}, prodInt32NEON},
	{Max, []Elem{Int32}, maxInt32NEON},
	{Min, []Elem{Int32}, minInt32NEON},
	{Max, []Elem{Uint32}, maxUint32NEON},
	{Min, []Elem{Uint32}, minUint32NEON},
	{Sum, []Elem{Int64, Uint64}, sumInt64NEON},
	{BAnd, integers, andNEON},
	{BOr, integers, orNEON},
	{BXor, integers, xorNEON},
}

//go:noescape
func sumFloat32NEON(dst, acc, in *byte, n int)

//go:noescape
func prodFloat32NEON(dst, acc, in *byte, n int)

//go:noescape
func maxFloat32NEON(dst, acc, in *byte, n int)

//go:noescape
func minFloat32NEON(dst, acc, in *byte, n int)

//go:noescape
func sumFloat64NEON(dst, acc, in *byte, n int)

//go:noescape
func prodFloat64NEON(dst, acc, in *byte, n int)

//go:noescape
func maxFloat64NEON(dst, acc, in *byte, n int)

//go:noescape
func minFloat64NEON(dst, acc, in *byte, n int)

//go:noescape
func sumInt8NEON(dst, acc, in *byte, n int)

//go:noescape
func prodInt8NEON(dst, acc, in *byte, n int)

//go:noescape
func maxInt8NEON(dst, acc, in *byte, n int)

//go:noescape
func minInt8NEON(dst, acc, in *byte, n int)

//go:noescape
func maxUint8NEON(dst, acc, in *byte, n int)

//go:noescape
func minUint8NEON(dst, acc, in *byte, n int)

//go:noescape
func sumInt16NEON(dst, acc, in *byte, n int)

//go:noescape
func prodInt16NEON(dst, acc, in *byte, n int)

//go:noescape
func maxInt16NEON(dst, acc, in *byte, n int)

//go:noescape
func minInt16NEON(dst, acc, in *byte, n int)

//go:noescape
func maxUint16NEON(dst, acc, in *byte, n int)

//go:noescape
func minUint16NEON(dst, acc, in *byte, n int)

//go:noescape
func sumInt32NEON(dst, acc, in *byte, n int)

//go:noescape
func prodInt32NEON(dst, acc, in *byte, n int)

//go:noescape
func maxInt32NEON(dst, acc, in *byte, n int)

//go:noescape
func minInt32NEON(dst, acc, in *byte, n int)

//go:noescape
func maxUint32NEON(dst, acc, in *byte, n int)

//go:noescape
func minUint32NEON(dst, acc, in *byte, n int)

//go:noescape
func sumInt64NEON(dst, acc, in *byte, n int)

//go:noescape
func andNEON(dst, acc, in *byte, n int)

//go:noescape
func orNEON(dst, acc, in *byte, n int)

//go:noescape
func xorNEON(dst, acc, in *byte, n int)
