package join

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/token"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// The folders testdata/COMMIT have the files of released builds that outlive a platform. Folder
// platform is that of a platform, with its authority and its tokens. Folder home is that of a server
// on a machine that does not see the first one: the server has joined by a token. No real platform
// uses the keys in them. The code of a release writes the files once:
//
//	go test ./internal/join -run TestWrite -args -write testdata/COMMIT

var writeTo = flag.String("write", "", "folder to write the files of this build to: testdata/COMMIT")

// TestWrite writes the files of a release.
func TestWrite(t *testing.T) {
	if *writeTo == "" {
		t.Skip("writes the files of a release, with -args -write testdata/COMMIT")
	}
	p := newPlatform(t)
	first := p.token(token.Server)
	p.token(token.Client) // is not redeemed
	p.token(token.Server) // is revoked
	require.NoError(t, Change(p.dir, func(b *token.Book) error { return b.Revoke(mono.Time(time.Now().UnixNano()), b.Grants[2].ID) }))
	p.now.Store(-int64(link.Life) - int64(time.Minute)) // the certificate has ended when tests read it
	_, err := enter(t, Wish{Dir: filepath.Join(*writeTo, "home"), Token: first.String(), Name: "far", Role: link.Worker})
	require.NoError(t, err)
	to := filepath.Join(*writeTo, "platform")
	require.NoError(t, os.CopyFS(to, os.DirFS(p.dir)))
	for _, name := range []string{"ma.pem", "tokens.json.lock"} { // issued anew at each start; and empty
		require.NoError(t, os.Remove(filepath.Join(to, name)))
	}
}

// earlier calls f with copies of the folders of each build.
func earlier(t *testing.T, f func(platform, home string)) {
	builds, err := filepath.Glob("testdata/*/platform")
	require.NoError(t, err)
	require.NotEmpty(t, builds)
	for _, from := range builds {
		to := t.TempDir()
		require.NoError(t, os.CopyFS(to, os.DirFS(filepath.Dir(from))))
		require.NoError(t, filepath.WalkDir(to, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = os.Chmod(path, 0o700) // a checkout may have other permissions
			}
			return err
		}))
		f(filepath.Join(to, "platform"), filepath.Join(to, "home"))
	}
}

// TestEarlier: the tokens, the authority and the identity of each build are read. The certificate
// of the server has ended since. The server joins its platform once more, under its old name and
// with its key.
func TestEarlier(t *testing.T) {
	earlier(t, func(dir, home string) {
		book, err := Read(dir)
		require.NoError(t, err)
		require.Len(t, book.Grants, 3)
		require.Len(t, book.Members, 1)
		far := book.Members[0]
		for i, want := range []token.Grant{{Role: token.Server}, {Role: token.Client, Uses: 1}, {Role: token.Server, Uses: 1, Revoked: true}} {
			is := book.Grants[i]
			assert.Len(t, is.ID, 12)
			assert.NotZero(t, is.Secret)
			assert.Greater(t, is.Until, mono.Time(0))
			assert.Equal(t, want, token.Grant{Role: is.Role, Uses: is.Uses, Revoked: is.Revoked})
		}
		assert.Equal(t, []string{"far", token.Server, book.Grants[0].ID}, []string{far.Name, far.Role, far.Grant})
		store, err := discovery.Store(dir)
		require.NoError(t, err)
		assert.Equal(t, "/a/folder", store)

		was, err := Load(home)
		require.NoError(t, err)
		role, name, err := was.Subject()
		require.NoError(t, err)
		assert.Equal(t, "server far", string(role)+" "+name)
		_, err = enter(t, Wish{Dir: home, Role: link.Worker})
		require.ErrorIs(t, err, ErrNoIdentity)
		assert.ErrorContains(t, err, "has ended at")

		p := earlierPlatform(t, dir)
		is, err := enter(t, Wish{Dir: home, Token: p.token(token.Server).String(), Role: link.Worker})
		require.NoError(t, err)
		_, name, err = is.Subject()
		require.NoError(t, err)
		assert.Equal(t, "far", name)
		assert.Equal(t, was.Pair().PrivateKey, is.Pair().PrivateKey)
		assert.True(t, is.Ends().After(time.Now()))
		masters, err := discovery.Masters(home)
		require.NoError(t, err)
		assert.Contains(t, masters, p.addr)
	})
}

// earlierPlatform is a platform with the folder of an earlier build.
func earlierPlatform(t *testing.T, dir string) *platform {
	t.Helper()
	authority, err := link.OpenAuthority(dir, "p")
	require.NoError(t, err)
	require.NoError(t, authority.Issue(dir, link.Master, "ma"))
	p := &platform{t: t, dir: dir, ca: token.HashOf(authority.Certificate().Raw)}
	p.desk = &Desk{Dir: dir, Authority: authority, Now: time.Now, Say: func(text string) { t.Log(text) }}
	p.addr = p.serve(p.desk)
	require.NoError(t, discovery.SaveMasters(dir, p.addr))
	return p
}

// TestEarlierDamaged: a file of tokens that was cut short is refused. The error of a later format
// has both numbers, and not the advice to delete the file.
func TestEarlierDamaged(t *testing.T) {
	earlier(t, func(dir, _ string) {
		path := bookFile(dir)
		was, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, n := range []int{0, 1, len(was) / 2, len(was) - 1} {
			require.NoError(t, os.WriteFile(path, was[:n], 0o600))
			_, err := Read(dir)
			require.ErrorContains(t, err, path+": ")
			assert.ErrorContains(t, err, "delete it, and make new tokens")
		}
		later := bytes.Replace(was, []byte(`{`), []byte(`{"Format":2,`), 1)
		require.NoError(t, os.WriteFile(path, later, 0o600))
		for _, err := range []error{Change(dir, func(*token.Book) error { return nil }), func() error { _, err := Read(dir); return err }()} {
			assert.EqualError(t, err, path+": a later format: format 2, and this build reads formats up to 1: use the build that wrote it, or a later gridrpc")
		}
		is, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, later, is)
	})
}
