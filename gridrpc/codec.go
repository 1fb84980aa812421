package gridrpc

import "github.com/goulfm/goulfm/gridrpc/internal/codec"

// Codec is an encoding of arguments and results.
type Codec string

// The codecs. Every server accepts both. Clients in other languages use JSON. Gob sends []byte,
// string and []float64 without the description of a type.
const (
	Gob  Codec = codec.Gob
	JSON Codec = codec.JSON
)
