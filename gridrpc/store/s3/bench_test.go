package s3

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/store/s3/seaweed"
)

// BenchmarkService puts and gets 16 MiB, when all servers live, and when one does not.
func BenchmarkService(b *testing.B) {
	service := seaweed.Start(b, servers, copies)
	service.Bucket("our")
	s, err := Open(b.Context(), "s3://our/bench")
	require.NoError(b, err)
	data := object("o", 0, partSize)
	for _, lost := range []int{0, 1} {
		if lost > 0 {
			service.Kill("v1")
		}
		b.Run(fmt.Sprintf("lost=%d/put", lost), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				require.NoError(b, s.Put(b.Context(), "o", int64(len(data)), bytes.NewReader(data)))
			}
		})
		b.Run(fmt.Sprintf("lost=%d/get", lost), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				got, err := read(b.Context(), s, "o")
				require.NoError(b, err)
				require.True(b, bytes.Equal(data, got), "other bytes")
			}
		})
	}
}
