package ckptfile

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// assemble returns a file with correct checksums, for any head and any chunks.
func assemble(head []byte, chunks ...[]byte) []byte {
	b := little.AppendUint32([]byte(magic), Format)
	b = little.AppendUint32(b, uint32(len(head)))
	b = append(b, head...)
	index := little.AppendUint32(nil, CRC(b))
	for _, c := range chunks {
		index = little.AppendUint64(index, uint64(len(b)))
		b = append(b, c...)
	}
	at := uint64(len(b))
	index = little.AppendUint32(index, CRC(index))
	return append(little.AppendUint64(append(b, index...), at), magic...)
}

// assembleChunk returns a chunk with a correct checksum.
func assembleChunk(stored []byte, size uint32, codec Codec) []byte {
	b := little.AppendUint32(nil, uint32(len(stored)))
	b = little.AppendUint32(b, size)
	b = little.AppendUint32(b, uint32(codec))
	b = little.AppendUint32(b, castagnoli(CRC(b), stored))
	return append(b, stored...)
}

// mistake returns a file that assemble returned with another checksum of its head. The text of the
// head stays valid JSON.
func mistake(file []byte) []byte {
	b := slices.Clone(file)
	index := b[little.Uint64(b[len(b)-trailer:]) : len(b)-trailer]
	index[0] ^= 1
	little.PutUint32(index[len(index)-4:], CRC(index[:len(index)-4]))
	return b
}

// repeat returns a text of at most n bytes with as many items as possible.
func repeat(n int, before, item, separator, after string) []byte {
	count := (n - len(before) - len(item) - len(after)) / (len(item) + len(separator))
	return []byte(before + strings.Repeat(item+separator, count) + item + after)
}

// hostileHeads are heads that an unbounded decoder turns into many times their own length.
func hostileHeads(n int) map[string][]byte {
	return map[string][]byte{
		"members":                             repeat(n, `{"members":[`, `{}`, `,`, `]}`),
		"members that are null":               repeat(n, `{"members":[`, `null`, `,`, `]}`),
		"members of a wrong type":             repeat(n, `{"members":[`, `0`, `,`, `]}`),
		"members, repeatedly":                 repeat(n, `{`, `"members":[]`, `,`, `}`),
		"no members, repeatedly":              repeat(n, `{`, `"members":null`, `,`, `}`),
		"a wrong type of members, repeatedly": repeat(n, `{`, `"members":0`, `,`, `}`),
		"runs":                                repeat(n, `{"members":[{"runs":[`, `[0,0]`, `,`, `]}]}`),
		"empty runs":                          repeat(n, `{"members":[{"runs":[`, `[]`, `,`, `]}]}`),
		"runs that are null":                  repeat(n, `{"members":[{"runs":[`, `null`, `,`, `]}]}`),
		"runs of a wrong type":                repeat(n, `{"members":[{"runs":[`, `0`, `,`, `]}]}`),
		"runs, repeatedly":                    repeat(n, `{"members":[{`, `"runs":[[0,0]]`, `,`, `}]}`),
		"no runs, repeatedly":                 repeat(n, `{"members":[{`, `"runs":[]`, `,`, `}]}`),
		"a wrong type of runs, repeatedly":    repeat(n, `{"members":[{`, `"runs":0`, `,`, `}]}`),
		"separators in a string":              repeat(n, `{"members":[{"runs":["`, `],[`, ``, `"]}]}`),
		"a wrong job, repeatedly":             repeat(n, `{`, `"job":0`, `,`, `}`),
		"a wrong name, repeatedly":            repeat(n, `{"members":[{`, `"name":0`, `,`, `}]}`),
		"invalid UTF-8":                       repeat(n, `{"job":"`, "\xff", ``, `"}`),
		"invalid UTF-8 of a member":           repeat(n, `{"members":[{"options":"`, "\xff", ``, `"}]}`),
		"half surrogates":                     repeat(n, `{"job":"`, `\ud800`, ``, `"}`),
		"a long number":                       repeat(n, `{"size":`, `1`, ``, `}`),
		"a long number of a member":           repeat(n, `{"members":[{"bytes":`, `1`, ``, `}]}`),
		"unknown fields":                      repeat(n, `{"x":[`, `{}`, `,`, `]}`),
		"unknown fields of a member":          repeat(n, `{"members":[{"x":[`, `{}`, `,`, `]}]}`),
		"depth":                               repeat(n, ``, `[`, ``, ``),
	}
}

// allocated returns the bytes that a function allocates, garbage included.
func allocated(do func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// folder is a Getter of files in memory.
type folder map[string][]byte

func (f folder) Get(_ context.Context, key string, off, n int64) (io.ReadCloser, error) {
	b := f[key][min(off, int64(len(f[key]))):]
	if n >= 0 {
		b = b[:min(n, int64(len(b)))]
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// paths are the ways in which the head of a file is read.
var paths = map[string]func(b []byte) error{
	"open": open,
	"remote": func(b []byte) error {
		m := Manifest{Job: "j", Files: []File{{Name: FileName(0), Bytes: int64(len(b)), CRC: CRC(b)}}}
		return VerifyFile(context.Background(), folder{m.Folder() + "/" + FileName(0): b}, m, 0)
	},
}

// The promised bound on the memory that a head costs is headCost times its length. spare is added
// for buffers and errors of constant length.
const (
	headCost = 20
	spare    = 64 << 10
)

// TestHostileHead: a head with a correct checksum is decoded in memory of a small multiple of its
// length.
func TestHostileHead(t *testing.T) {
	for path, read := range paths {
		for name, head := range hostileHeads(1 << 20) {
			var err error
			file := assemble(head)
			got := allocated(func() { err = read(file) })
			assert.ErrorIs(t, err, ErrCorrupt, "%s: %s", path, name)
			assert.LessOrEqual(t, got, headCost*len(head)+spare, "%s: %s: %.1f times its length", path, name, float64(got)/float64(len(head)))
			t.Logf("%s: %s: %.1f times its length", path, name, float64(got)/float64(len(head)))
		}
	}
}

// TestDamagedHead: a head with a wrong checksum is not decoded: the only long buffer is the one for
// its text.
func TestDamagedHead(t *testing.T) {
	for path, read := range paths {
		for name, head := range hostileHeads(1 << 20) {
			var err error
			file := mistake(assemble(head))
			got := allocated(func() { err = read(file) })
			assert.ErrorIs(t, err, ErrCorrupt, "%s: %s", path, name)
			assert.LessOrEqual(t, got, len(head)+spare, "%s: %s", path, name)
		}
	}
}

// TestLongestHead: the hostile head of the greatest length, with a correct checksum and a wrong
// one.
func TestLongestHead(t *testing.T) {
	head := hostileHeads(HeadMax)["members"]
	require.Greater(t, len(head), HeadMax-8)
	file := assemble(head)
	for _, c := range []struct {
		file  []byte
		bound int
	}{{file, headCost*len(head) + spare}, {mistake(file), len(head) + spare}} {
		var err error
		got := allocated(func() { err = open(c.file) })
		require.ErrorIs(t, err, ErrCorrupt)
		assert.LessOrEqual(t, got, c.bound)
		t.Logf("%d bytes allocated for a head of %d", got, len(head))
	}
}

// TestWrongIndexOffset: a wrong offset of the index allocates nothing of the file's length.
func TestWrongIndexOffset(t *testing.T) {
	const n = 4 << 20
	h := sample(n)
	h.Chunk = n
	file := encode(t, h, None, noise(n, 1))
	f, err := Open(file)
	require.NoError(t, err)
	for _, at := range []int64{f.first, f.first + 1, f.index - 8, f.index + 8} {
		bad := slices.Clone(file)
		little.PutUint64(bad[len(bad)-trailer:], uint64(at))
		got := allocated(func() { err = open(bad) })
		require.ErrorIs(t, err, ErrCorrupt)
		assert.Less(t, got, spare, "offset %d instead of %d", at, f.index)
	}
}

// TestGreatHead: the greatest number of members, and many runs, are written and read.
func TestGreatHead(t *testing.T) {
	h := sample(make([]int64, MembersMax)...)
	h.Members[3].Runs = nil
	h.Members[5].Runs = make([][2]int, 100_000)
	for i := range h.Members[5].Runs {
		h.Members[5].Runs[i] = [2]int{7 * i, i}
	}
	h.Members[7].Options = `a "string" with ],[ and {`
	f, err := Open(encode(t, h, None))
	require.NoError(t, err)
	assert.Equal(t, h, f.Head())
	h.Members = append(h.Members, Member{})
	text, err := json.Marshal(h)
	require.NoError(t, err)
	_, err = Open(assemble(text))
	assert.ErrorIs(t, err, ErrCorrupt)
	assert.ErrorContains(t, err, "more than 1024 members")
}

// headTexts are heads with a form of their own, and whether the decoder accepts them.
var headTexts = map[string]bool{
	`{}`:                              true,
	`null`:                            true,
	`{"members":null}`:                true,
	`{"members":[]}`:                  true,
	`{"members":[null,{}]}`:           true,
	`{"members":[{"runs":null}]}`:     true,
	`{"members":[{"runs":[]}]}`:       true,
	`{"members":[{"runs":[[1,-2]]}]}`: true,
	`{"members":[{"runs":[[1,2],[3,4]],"name":"x"},{"bytes":3}],"job":"j"}`: true,
	`{"Members":[{"NAME":"x"}],"more":[{}]}`:                                true,
	``:                                                                      false,
	`{} {}`:                                                                 false,
	`{"members":0}`:                                                         false,
	`{"members":{}}`:                                                        false,
	`{"members":{"a":{}}}`:                                                  false,
	`{"members":"x"}`:                                                       false,
	`{"members":[[]]}`:                                                      false,
	`{"members":[],"members":[]}`:                                           false,
	`{"members":[{"runs":0}]}`:                                              false,
	`{"members":[{"runs":{}}]}`:                                             false,
	`{"members":[{"runs":[[]]}]}`:                                           false,
	`{"members":[{"runs":[[1]]}]}`:                                          false,
	`{"members":[{"runs":[[1,2,3]]}]}`:                                      false,
	`{"members":[{"runs":[[1,null]]}]}`:                                     false,
	`{"members":[{"runs":[[1,2.5]]}]}`:                                      false,
	`{"members":[{"runs":["],[",[1,2]]}]}`:                                  false,
}

// TestDecodeHead: a decoded head is the one of encoding/json.
func TestDecodeHead(t *testing.T) {
	for text, want := range headTexts {
		got, err := decodeHead([]byte(text))
		if !want {
			assert.Error(t, err, text)
			continue
		}
		var same Head
		require.NoError(t, json.Unmarshal([]byte(text), &same), text)
		require.NoError(t, err, text)
		assert.Equal(t, same, got, text)
	}
}

// FuzzHead: a head that the bounded decoder accepts is the one of encoding/json.
func FuzzHead(f *testing.F) {
	for text := range headTexts {
		f.Add([]byte(text))
	}
	for _, head := range hostileHeads(200) {
		f.Add(head)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := decodeHead(text)
		if err != nil {
			return
		}
		var same Head
		require.NoError(t, json.Unmarshal(text, &same))
		require.Equal(t, same, got)
	})
}
