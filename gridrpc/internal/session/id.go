package session

import (
	"encoding/hex"
	"fmt"
)

// Text returns the identifier as hexadecimal digits.
func (id CallID) Text() string { return hex.EncodeToString(id[:]) }

// ParseCallID is the inverse of Text.
func ParseCallID(text string) (id CallID, err error) {
	data, err := hex.DecodeString(text)
	if err != nil || len(data) != len(id) {
		return id, fmt.Errorf("%.40q is no call: want its id, %d hexadecimal digits", text, 2*len(id))
	}
	return CallID(data), nil
}
