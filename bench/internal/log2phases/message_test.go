package log2phases

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// FuzzDecode: any bytes are refused, or are a message that encodes to one that decodes to the same.
func FuzzDecode(f *testing.F) {
	v := era.Value{From: rankset.Of(1, 3), Lo: era.Claim{Call: 2, Rank: 1}, Hi: era.Claim{Call: 2, Rank: 3}, Flag: 6, Dead: rankset.Of(0), Returned: 4}
	for _, m := range []message{{kind: vote, value: v}, {kind: commit, attempt: 2, value: v}, {kind: request, attempt: 1}} {
		f.Add(encode(m))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b, 5)
		if err != nil {
			require.ErrorIs(t, err, wire.ErrMalformed)
			return
		}
		again, err := decode(encode(m), 5)
		require.NoError(t, err)
		require.Equal(t, m.String(), again.String())
	})
}
