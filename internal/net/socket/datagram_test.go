package socket

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func trustFor(t testing.TB, job uint64) *Trust {
	trust, err := NewTrust(job, bytes.Repeat([]byte{7}, SecretSize))
	require.NoError(t, err)
	return trust
}

func TestDatagram(t *testing.T) {
	trust := trustFor(t, 1)
	sealed := trust.SealDatagram([]byte("before"), 5, 3, 9, []byte("hello"))[len("before"):]
	sender, sequence, payload, err := trust.OpenDatagram(5, sealed)
	require.NoError(t, err)
	assert.Equal(t, []any{uint32(3), uint64(9), "hello"}, []any{sender, sequence, string(payload)})

	_, _, _, err = trust.OpenDatagram(6, sealed)
	assert.ErrorIs(t, err, ErrStranger, "for another member")
	_, _, _, err = trustFor(t, 2).OpenDatagram(5, sealed)
	assert.ErrorIs(t, err, ErrStranger, "of another job")
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		_, _, _, err = trust.OpenDatagram(5, bad)
		assert.ErrorIs(t, err, ErrStranger, "byte %d flipped", i)
	}
}

func FuzzDatagram(f *testing.F) {
	trust := trustFor(f, 1)
	f.Add(trust.SealDatagram(nil, 5, 3, 9, []byte("hello")))
	f.Add([]byte(datagramMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		sender, sequence, payload, err := trust.OpenDatagram(5, b)
		if err == nil {
			assert.Equal(t, b, trust.SealDatagram(nil, 5, sender, sequence, payload))
		}
	})
}
