package watch

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoJob: each error states the fault and the remedy.
func TestNoJob(t *testing.T) {
	t.Setenv(Variable, "")
	_, err := Open(t.Context())
	require.ErrorIs(t, err, ErrNoJob)
	assert.ErrorContains(t, err, "goulfm run --watch")

	t.Setenv(Variable, filepath.Join(t.TempDir(), "none"))
	_, err = Open(t.Context())
	require.ErrorIs(t, err, ErrNoJob)
	assert.ErrorContains(t, err, "the job is over, or its launcher runs on another machine")
}

// says starts a launcher that sends a text to each client, and ends.
func says(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(text))
			conn.Close()
		}
	}()
	return path
}

const here = `{"v":1,"seq":1,"what":"present","proc":0,"node":0,"atNs":1}` + "\n"

// TestWhatALauncherMaySay: a Watcher ends with an error that states the reason, at Open if the
// error comes first.
func TestWhatALauncherMaySay(t *testing.T) {
	for _, c := range []struct {
		says   string
		events int
		is     error
		text   string
	}{
		{"", 0, ErrGone, ""},
		{here, 1, ErrGone, ""},
		{here + here[:20], 1, ErrGone, ""},
		{`{"v":1,"what":"refused","evidence":"the job is of user 7"}` + "\n", 0, ErrRefused, "the job is of user 7"},
		{here + here + `{"v":1,"what":"cut","evidence":"too late"}` + "\n", 2, ErrBehind, "too late"},
		{`{"v":2,"what":"present"}` + "\n", 0, nil, "the job speaks version 2"},
		{here + "nonsense\n", 1, nil, `"nonsense"`},
		{here + `{"v":1,"what":"present","proc":-2}` + "\n", 1, nil, "no such numbers"},
	} {
		w, err := OpenAt(t.Context(), says(t, c.says))
		events := 0
		if err == nil {
			for _, e := range w.Events() {
				if err = e; err == nil {
					events++
				}
			}
			require.NoError(t, w.Close())
		}
		assert.Equal(t, c.events, events, c.says)
		if c.is != nil {
			assert.ErrorIs(t, err, c.is, c.says)
		}
		assert.ErrorContains(t, err, c.text, c.says)
	}
}

// FuzzParse: a line of a launcher is an event or an error, and an event is within bounds.
func FuzzParse(f *testing.F) {
	f.Add([]byte(here))
	f.Add([]byte(`{"v":1,"seq":9,"what":"over","evidence":"fin\n","atNs":-5}`))
	f.Add([]byte(`{"v":1,"seq":-1}`))
	f.Add([]byte(`{"v":3}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := parse(line)
		if err == nil && (e.Proc < None || e.Node < None) {
			t.Fatal(e)
		}
		_ = e.String()
	})
}
