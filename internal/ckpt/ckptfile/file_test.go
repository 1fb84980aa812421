package ckptfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sample(bytes ...int64) Head {
	h := Head{Job: "heat", Epoch: 2, Number: 7, Size: 4, Rank: 1, Chunk: 100}
	for i, n := range bytes {
		h.Members = append(h.Members, Member{Name: fmt.Sprint("m", i), Kind: "float64", Element: 8, Bytes: n, Runs: [][2]int{{i, 5}}})
	}
	return h
}

// encode returns a file with the given data of each member.
func encode(t testing.TB, h Head, codec Codec, data ...[]byte) []byte {
	var out bytes.Buffer
	w, err := NewWriter(&out, h, codec)
	require.NoError(t, err)
	for _, d := range data {
		n, err := w.Write(d)
		require.NoError(t, err)
		require.Equal(t, len(d), n)
	}
	size, crc, err := w.Close()
	require.NoError(t, err)
	require.Equal(t, int64(out.Len()), size)
	require.Equal(t, CRC(out.Bytes()), crc)
	return out.Bytes()
}

func noise(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// TestRoundTrip: written data are read, whole or in any part, with every codec, at all
// lengths around those of chunks.
func TestRoundTrip(t *testing.T) {
	for _, codec := range []Codec{None, Zstd, Auto} {
		for _, n := range []int{0, 1, 99, 100, 101, 250, 1000} {
			data := [][]byte{noise(n, 1), make([]byte, 150), bytes.Repeat([]byte("abc"), n)}
			h := sample(int64(n), 150, int64(3*n))
			f, err := Open(encode(t, h, codec, data...))
			require.NoError(t, err)
			require.NoError(t, f.Verify())
			require.Equal(t, h, f.Head())
			for i, d := range data {
				for _, cut := range [][2]int{{0, len(d)}, {len(d) / 3, len(d) / 2}, {len(d), len(d)}} {
					p := make([]byte, cut[1]-cut[0])
					require.NoError(t, f.ReadMember(p, i, int64(cut[0])))
					require.Equal(t, d[cut[0]:cut[1]], p, "codec %d, n %d, member %d, %v", codec, n, i, cut)
				}
			}
		}
	}
}

// TestWritesOfAnyLength: the file does not depend on the pieces in which the data arrive.
func TestWritesOfAnyLength(t *testing.T) {
	data := noise(777, 3)
	want := encode(t, sample(777), None, data)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var pieces [][]byte
		for rest := data; len(rest) > 0; {
			n := 1 + rng.IntN(min(len(rest), 150))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		require.Equal(t, want, encode(t, sample(777), None, pieces...))
	}
}

// TestCompression: data that get smaller are compressed, other data are stored unchanged, and
// Auto distinguishes the two.
func TestCompression(t *testing.T) {
	const n = 100000
	smooth, rough := bytes.Repeat([]byte("goulfm"), n/6+1)[:n], noise(n, 5)
	assert.Less(t, len(encode(t, sample(n), Zstd, smooth)), n/2)
	assert.Less(t, len(encode(t, sample(n), Auto, smooth)), n/2)
	assert.Greater(t, len(encode(t, sample(n), None, smooth)), n)
	assert.Equal(t, encode(t, sample(n), None, rough), encode(t, sample(n), Auto, rough))
	mixed := slices.Concat(rough, smooth)
	assert.Less(t, len(encode(t, sample(2*n), Auto, mixed)), n+n/2+n/4, "the probes notice a change")
}

// TestEveryByteCounts: a file with any one bit changed is never accepted, and the error has a
// class.
func TestEveryByteCounts(t *testing.T) {
	for _, codec := range []Codec{None, Zstd} {
		good := encode(t, sample(150, 0, 70), codec, noise(150, 7), make([]byte, 70))
		for at := range good {
			for bit := range 8 {
				bad := slices.Clone(good)
				bad[at] ^= 1 << bit
				require.True(t, named(open(bad)), "codec %d, bit %d of byte %d of %d: %v", codec, bit, at, len(good), open(bad))
			}
		}
	}
}

// open reads everything.
func open(b []byte) error {
	f, err := Open(b)
	if err != nil {
		return err
	}
	return f.Verify()
}

func named(err error) bool {
	return errors.Is(err, ErrForeign) || errors.Is(err, ErrFormat) || errors.Is(err, ErrTorn) || errors.Is(err, ErrCorrupt)
}

// TestTorn: a file that ends too early, at any place, or continues after its end.
func TestTorn(t *testing.T) {
	good := encode(t, sample(150, 70), None, noise(220, 7))
	require.NoError(t, open(good))
	for n := range good {
		require.True(t, named(open(good[:n])), "%d of %d bytes", n, len(good))
		require.True(t, named(open(good[n+1:])), "without the first %d", n+1)
		require.True(t, named(open(slices.Concat(good[:n], good[n+1:]))), "without byte %d", n)
		require.True(t, named(open(slices.Concat(good[:n], []byte{0}, good[n:]))), "a byte more at %d", n)
	}
	require.ErrorIs(t, open(good[:len(good)-1]), ErrTorn)
	require.True(t, named(open(append(slices.Clone(good), 0))))
	require.ErrorIs(t, open([]byte("%PDF-1.7 and much more that has nothing to do with it")), ErrForeign)
}

const (
	newerFormat   = "a checkpoint of a newer format: format 2, and this build reads formats up to 1: use the build that wrote it, or a later goulfm"
	newerManifest = "a manifest: a checkpoint of a newer format: format 3, and this build reads formats up to 2: use the build that wrote it, or a later goulfm"
)

// TestNewerFormat: the error of a file of a later format has the numbers of both formats, also if
// nothing after the number is as in this format.
func TestNewerFormat(t *testing.T) {
	good := encode(t, sample(150, 70), None, noise(220, 7))
	good[len(magic)] = 2
	for _, newer := range [][]byte{good, append(good[:len(magic)+4:len(magic)+4], noise(100, 3)...)} {
		require.ErrorIs(t, open(newer), ErrFormat)
		require.EqualError(t, open(newer), newerFormat)
	}
	good[len(magic)] = 0
	require.ErrorIs(t, open(good), ErrCorrupt)
	for text, want := range map[string]error{
		`{"format":3,"job":"heat","epoch":3,"number":9,"files":[]}`: ErrFormat,
		`{"format":3,"job":7,"files":{"rank-0.gck":[10,1]}}`:        ErrFormat,
		`{"format":0,"job":"heat"}`:                                 ErrCorrupt,
		`{"format":"2"}`:                                            ErrCorrupt,
		`{"job":"heat"}`:                                            ErrCorrupt,
	} {
		b, err := json.Marshal(sealed{json.RawMessage(text), CRC([]byte(text))})
		require.NoError(t, err)
		_, err = DecodeManifest(append(b, '\n'))
		require.ErrorIs(t, err, want, text)
		if errors.Is(want, ErrFormat) {
			require.EqualError(t, err, newerManifest)
		}
	}
}

// TestForeignChunk: a chunk of another file, whole in itself, does not fit.
func TestForeignChunk(t *testing.T) {
	a := encode(t, sample(100, 100), None, noise(200, 1))
	b := encode(t, sample(100, 100), None, noise(200, 2))
	f, err := Open(a)
	require.NoError(t, err)
	first, second := f.offsets[0], f.offsets[1]
	mixed := slices.Clone(a)
	copy(mixed[first:second], b[first:second])
	// Only the manifest's checksum of the file shows the change; the file alone cannot.
	require.NotEqual(t, CRC(a), CRC(mixed))
	copy(mixed, a)
	copy(mixed[first:], a[second:])
	require.True(t, named(open(mixed)))
}

func TestWriterRefuses(t *testing.T) {
	for _, h := range []Head{
		{Size: 0}, {Size: 2, Rank: 2}, {Size: 2, Rank: -1}, {Size: 1, Chunk: ChunkMax + 1}, {Size: 1, Chunk: -1},
		{Size: 1, Members: make([]Member, MembersMax+1)},
		{Size: 1, Members: []Member{{Bytes: -1}}},
		{Size: 1, Members: []Member{{Bytes: math.MaxInt64 - ChunkMax}, {Bytes: 1}}},
		{Size: 1, Members: []Member{{Name: string(make([]byte, NameMax+1))}}},
	} {
		_, err := NewWriter(io.Discard, h, None)
		assert.Error(t, err, "%+v", h)
	}
	w, err := NewWriter(io.Discard, sample(10), None)
	require.NoError(t, err)
	_, _, err = w.Close()
	assert.ErrorContains(t, err, "10 bytes less")
	w, err = NewWriter(io.Discard, sample(10), None)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 11))
	assert.ErrorContains(t, err, "1 bytes more")
	w, err = NewWriter(&full{room: 400}, sample(1000), None)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 1000))
	assert.ErrorIs(t, err, errFull)
	_, _, err = w.Close()
	assert.ErrorIs(t, err, errFull, "an error is not forgotten")
}

var errFull = errors.New("no space left")

// full is a disk with a given amount of room.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestReadMemberRefuses(t *testing.T) {
	f, err := Open(encode(t, sample(50, 60), None, noise(110, 1)))
	require.NoError(t, err)
	assert.Error(t, f.ReadMember(make([]byte, 1), 2, 0))
	assert.Error(t, f.ReadMember(make([]byte, 1), -1, 0))
	assert.Error(t, f.ReadMember(make([]byte, 1), 0, -1))
	assert.Error(t, f.ReadMember(make([]byte, 51), 0, 0))
	assert.Error(t, f.ReadMember(make([]byte, 1), 0, 50))
}

func TestManifest(t *testing.T) {
	m := Manifest{Format: Format, Job: "heat-2", Epoch: 3, Number: 9, Files: []File{{"rank-0.gck", 10, 1}, {"rank-1.gck", 20, math.MaxUint32}}}
	good, err := m.Encode()
	require.NoError(t, err)
	got, err := DecodeManifest(good)
	require.NoError(t, err)
	assert.Equal(t, m, got)
	for at := range good {
		for bit := range 8 {
			bad := slices.Clone(good)
			bad[at] ^= 1 << bit
			_, err := DecodeManifest(bad)
			require.True(t, named(err), "bit %d of byte %d", bit, at)
		}
		_, err := DecodeManifest(good[:at])
		require.True(t, named(err), "%d bytes", at)
	}
	for _, files := range [][]File{nil, {{"rank-1.gck", 1, 1}}, {{"../rank-0.gck", 1, 1}}, {{"rank-0.gck", -1, 1}}} {
		b, err := Manifest{Files: files}.Encode()
		require.NoError(t, err)
		_, err = DecodeManifest(b)
		require.ErrorIs(t, err, ErrCorrupt, "%v", files)
	}
}

func TestFolderNames(t *testing.T) {
	for _, job := range []string{"heat", "heat-2", "a-1-2"} {
		gotJob, epoch, number, ok := ParseFolder(FolderName(job, 3, 14))
		assert.True(t, ok)
		assert.Equal(t, []any{job, uint64(3), uint64(14)}, []any{gotJob, epoch, number})
	}
	for _, name := range []string{"", "heat", "heat-1", "-1-2", "heat-1-x", "heat-01-2", "heat-1-+2", "heat--1--2"} {
		_, _, _, ok := ParseFolder(name)
		assert.False(t, ok && name != "heat--1--2", name)
	}
}

// BenchmarkWriter measures one core: data that cannot be compressed, and data that can.
func BenchmarkWriter(b *testing.B) {
	const n = 16 << 20
	h := Head{Size: 1, Members: []Member{{Bytes: n}}}
	for name, data := range map[string][]byte{"rough": noise(n, 1), "zero": make([]byte, n)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				w, err := NewWriter(io.Discard, h, Auto)
				require.NoError(b, err)
				_, err = w.Write(data)
				require.NoError(b, err)
				_, _, err = w.Close()
				require.NoError(b, err)
			}
		})
	}
}

// FuzzReader: any bytes are read or refused, without a panic and without allocating much
// more than their length.
func FuzzReader(f *testing.F) {
	f.Add(encode(f, sample(150, 0, 70), None, noise(220, 7)))
	f.Add(encode(f, sample(300), Zstd, make([]byte, 300)))
	f.Add(encode(f, sample(), None))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Open(b)
		if err != nil {
			if !named(err) {
				t.Fatalf("an error without a name: %v", err)
			}
			return
		}
		h := r.Head()
		if r.Verify() == nil && h.chunks() > int64(len(b)) {
			t.Fatalf("%d chunks in %d bytes", h.chunks(), len(b))
		}
		for i, m := range h.Members {
			_ = r.ReadMember(make([]byte, min(m.Bytes, 100)), i, 0)
		}
	})
}

// FuzzSealed: files with correct checksums and wrong contents.
func FuzzSealed(f *testing.F) {
	good := sample(40)
	text, _ := json.Marshal(good)
	f.Add(text, noise(40, 1), uint32(40), uint32(None))
	f.Add(text, encoder().EncodeAll(make([]byte, 40), nil), uint32(40), uint32(Zstd))
	f.Add(text, encoder().EncodeAll(make([]byte, 1<<20), nil), uint32(40), uint32(Zstd))
	for _, head := range hostileHeads(200) {
		f.Add(head, noise(40, 1), uint32(40), uint32(None))
	}
	f.Fuzz(func(t *testing.T, head, stored []byte, size, codec uint32) {
		b := assemble(head, assembleChunk(stored, size, Codec(codec)))
		r, err := Open(b)
		if err == nil {
			err = r.Verify()
		}
		if err != nil {
			if !named(err) {
				t.Fatalf("an error without a name: %v", err)
			}
			return
		}
		if h := r.Head(); len(r.data) != int(h.Bytes()) {
			t.Fatalf("%d bytes of data instead of %d", len(r.data), h.Bytes())
		}
	})
}

// FuzzManifest: an accepted manifest is encoded to the same bytes.
func FuzzManifest(f *testing.F) {
	good, _ := Manifest{Job: "j", Files: []File{{"rank-0.gck", 10, 1}}}.Encode()
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeManifest(b)
		if err != nil {
			return
		}
		again, err := m.Encode()
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%q is taken for %q", b, again)
		}
	})
}

// TestFormatOfAManifest: builds that know format 1 alone read a manifest without arguments. With
// arguments it has format 2; builds before 0.1.0 wrote 1 there, too, which is still read.
func TestFormatOfAManifest(t *testing.T) {
	m := Manifest{Job: "heat", Epoch: 3, Number: 9, Files: []File{{Name: "rank-0.gck", Bytes: 10, CRC: 1}}}
	for arguments, want := range map[string]int{"": 1, "0123456789abcdef": ListFormat} {
		m.Arguments = arguments
		b, err := m.Encode()
		require.NoError(t, err)
		got, err := DecodeManifest(b)
		require.NoError(t, err)
		assert.Equal(t, want, got.Format)
	}
	m.Format = 1
	b, err := m.encode()
	require.NoError(t, err)
	got, err := DecodeManifest(b)
	require.NoError(t, err)
	assert.Equal(t, m, got)
}
