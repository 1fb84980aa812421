package s3

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/store/storetest"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// service starts an object store in this process, and sets the environment to its address.
func service(t *testing.T, buckets ...string) {
	backend := s3mem.New()
	for _, name := range buckets {
		require.NoError(t, backend.CreateBucket(name))
	}
	web := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(web.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": web.URL, "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret"} {
		t.Setenv(name, value)
	}
}

// TestConformance: a bucket, and a folder in one, are stores.
func TestConformance(t *testing.T) {
	for _, folder := range []string{"", "/deep/er"} {
		t.Run("folder "+folder, func(t *testing.T) {
			var names []string
			for i := range 20 {
				names = append(names, fmt.Sprintf("bucket-%d", i))
			}
			service(t, names...)
			next := atomic.Int64{}
			storetest.Run(t, func(t *testing.T) checkpoint.Store {
				s, err := Open(t.Context(), Scheme+names[next.Add(1)-1]+folder)
				require.NoError(t, err)
				return s
			})
		})
	}
}

// TestFoldersAreApart: two platforms may use one bucket.
func TestFoldersAreApart(t *testing.T) {
	service(t, "our")
	one, err := Open(t.Context(), "s3://our/one")
	require.NoError(t, err)
	two, err := Open(t.Context(), "s3://our/two/")
	require.NoError(t, err)
	require.NoError(t, one.Put(t.Context(), "x", 1, strings.NewReader("1")))
	items, err := two.List(t.Context(), "")
	require.NoError(t, err)
	assert.Empty(t, items)
}

// TestMistakes: wrong settings are errors of Open.
func TestMistakes(t *testing.T) {
	service(t, "our")
	_, err := Open(t.Context(), "s3://others")
	assert.ErrorContains(t, err, "make it first")
	for _, name := range []string{"s3://", "s3:///x", "s3://b/../x", "s3://b//x", "s3://u:p@host/b", "/b"} {
		_, err = Open(t.Context(), name)
		assert.ErrorContains(t, err, name)
	}
	t.Setenv("AWS_ENDPOINT_URL", "localhost:9000")
	_, err = Open(t.Context(), "s3://our")
	assert.ErrorContains(t, err, "want https://HOST")
}

// TestErrorIsExplained: an error inside the service names the place to check.
func TestErrorIsExplained(t *testing.T) {
	inside := minio.ErrorResponse{Code: "InternalError", StatusCode: http.StatusInternalServerError, Message: "please try again"}
	err := bucket{name: "our", prefix: "mine/"}.explain(t.Context(), "x", inside)
	assert.ErrorContains(t, err, "mine/x in our: the service cannot do it now")
	assert.ErrorIs(t, err, inside)
	denied := minio.ErrorResponse{Code: "AccessDenied", StatusCode: http.StatusForbidden, Message: "no"}
	assert.NotContains(t, bucket{name: "our"}.explain(t.Context(), "x", denied).Error(), "the service cannot")
}

// FuzzParse: a name is either refused, or is a bucket and a folder for keys.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"s3://b", "s3://b/f/g/", "s3:///x", "http://b", "s3://b/.x"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		bucketName, folder, err := Parse(name)
		if err != nil {
			return
		}
		assert.NotEmpty(t, bucketName)
		assert.NotContains(t, bucketName, "/")
		if folder != "" {
			assert.NoError(t, checkpoint.CheckKey(folder+"/a"))
		}
		assert.True(t, strings.HasPrefix(name, Scheme+bucketName))
	})
}

// FuzzCounted: bytes are read unchanged, in any pieces, or with an error before the last byte if
// their number is not the announced one.
func FuzzCounted(f *testing.F) {
	f.Add([]byte("abc"), int64(3), uint8(0))
	f.Add([]byte("abc"), int64(2), uint8(1))
	f.Add([]byte(""), int64(-1), uint8(2))
	f.Add([]byte("abcdef"), int64(9), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, size int64, how uint8) {
		from := io.Reader(strings.NewReader(string(data)))
		for bit, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
			if how>>bit&1 == 1 {
				from = wrap(from)
			}
		}
		size = max(-1, size)
		c := &counted{ctx: t.Context(), from: from, size: size}
		var out io.Reader = c
		if how&8 != 0 {
			out = iotest.OneByteReader(c)
		}
		got, err := io.ReadAll(out)
		if size == -1 || size == int64(len(data)) {
			assert.NoError(t, err)
			assert.Equal(t, string(data), string(got))
			return
		}
		assert.Error(t, err)
		assert.Equal(t, err, c.failed)
		assert.Less(t, int64(len(got)), max(1, size))
	})
}

// TestReaderFails: Put returns the error of its reader.
func TestReaderFails(t *testing.T) {
	bad := errors.New("bad")
	_, err := io.ReadAll(&counted{ctx: t.Context(), from: iotest.ErrReader(bad), size: -1})
	assert.ErrorIs(t, err, bad)
}
