package adaptive

import (
	"crypto/hmac"
	"crypto/sha256"
)

// Sizes of the tag and of a sealed message, in bytes. The header of UDP adds 8 bytes to a message.
const (
	TagSize    = 8
	SealedSize = BodySize + TagSize
)

// Seal appends a message and its tag: the first 8 bytes of the HMAC-SHA-256 of the message. The key
// is that of one stream. A guess is right once in 2^64, and the numbers of beats only grow, so a
// stranger can neither make a dead process seem alive nor replay its messages: see Watch.Heard.
func Seal(dst, key []byte, m Message) []byte {
	from := len(dst)
	dst = AppendMessage(dst, m)
	return append(dst, tag(key, dst[from:])...)
}

// Unseal returns the message's bytes if the tag is right.
func Unseal(key, sealed []byte) ([]byte, bool) {
	if len(sealed) != SealedSize {
		return nil, false
	}
	body := sealed[:BodySize]
	return body, hmac.Equal(tag(key, body), sealed[BodySize:])
}

// StreamOf returns the stream of a sealed message, to find its key by; only Unseal proves that the
// message is genuine.
func StreamOf(sealed []byte) (uint32, bool) {
	if len(sealed) != SealedSize {
		return 0, false
	}
	f, ok := readFrame(sealed[:BodySize])
	return f.stream, ok
}

func tag(key, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return mac.Sum(nil)[:TagSize]
}
