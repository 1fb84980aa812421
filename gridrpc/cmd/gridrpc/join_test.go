package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/treehost"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// elsewhere is a machine that does not see the folder of the platform: its environment does not
// name the folder, and its home is another one.
type elsewhere struct {
	t    *testing.T
	home string
}

func newElsewhere(t *testing.T) elsewhere { return elsewhere{t, t.TempDir()} }

func (e elsewhere) command(args ...string) *exec.Cmd {
	cmd := exec.Command(built().gridrpc, args...)
	cmd.Dir = e.home
	cmd.Env = []string{"HOME=" + e.home, "XDG_CONFIG_HOME=" + filepath.Join(e.home, "settings"), "PATH=" + os.Getenv("PATH")}
	return cmd
}

// identity returns the default folder of the identity of a role.
func (e elsewhere) identity(role string) string {
	return filepath.Join(e.home, "settings", "gridrpc", role)
}

// run runs a command to its end.
func (e elsewhere) run(args ...string) (out, complaint string) {
	cmd := e.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the caller checks the output
	return stdout.String(), stderr.String()
}

// serve starts a server there. Its output is added to the log of the platform. It ends with the
// test.
func (e elsewhere) serve(p *trial, args ...string) *exec.Cmd {
	return e.start(p, e.command(append([]string{"serve"}, args...)...))
}

func (e elsewhere) start(p *trial, cmd *exec.Cmd) *exec.Cmd {
	out, err := cmd.StdoutPipe()
	require.NoError(e.t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(e.t, cmd.Start())
	told := make(chan struct{})
	go func() { defer close(told); p.eventLog.Read(out, nil) }()
	e.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-told
		_ = cmd.Wait()
	})
	return cmd
}

// token makes a token on the platform's machine.
func (p *trial) token(args ...string) string {
	out, err := exec.Command(built().gridrpc, append([]string{"token", "new", "--dir", p.dir}, args...)...).Output()
	require.NoError(p.t, err)
	return strings.TrimSpace(string(out))
}

// TestJoin: a server on a machine that does not see the platform's folder joins by a token, and is
// called from a third machine. It is killed, and joins again by its identity without a token.
func TestJoin(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--no-restart")
	p.signal("s1", syscall.SIGKILL) // so that only the joined server can answer
	p.await("s1 died")
	server, client := newElsewhere(t), newElsewhere(t)
	token := p.token()
	first := server.serve(p, "--join", token, "--name", "far", built().trial)
	p.await("far: has the parent ma")

	out, complaint := client.run("call", "--timeout", "1m", "--join", p.token("--role", "client"), "square", "3")
	assert.JSONEq(t, `{"Server":"far","Attempt":1,"Value":9}`, out, complaint)

	require.NoError(t, first.Process.Signal(syscall.SIGKILL))
	_ = first.Wait()
	server.serve(p, built().trial)
	p.until("far to come again", func() bool { return strings.Count(p.eventLog.String(), "far: has the parent") == 2 })
	out, complaint = client.run("call", "--timeout", "1m", "--identity", client.identity("client"), "square", "4")
	assert.JSONEq(t, `{"Server":"far","Attempt":1,"Value":16}`, out, complaint)

	_, complaint = server.run("serve", built().trial)
	assert.Contains(t, complaint, join.ErrInUse.Error(), "two servers with one identity")
	isPrivate(t, server.identity("server"))
	isPrivate(t, client.identity("client"))
	out, _ = client.run("token", "ls", "--dir", p.dir)
	assert.Contains(t, out, "used up")
	assert.Contains(t, out, "far")
}

// TestJoinedComesAgain: a platform that is restarted in its folder accepts earlier members: it has
// the same authority, and its masters have the same ports.
func TestJoinedComesAgain(t *testing.T) {
	longtest.Skip(t, "servers that join, leave and come again")
	for _, masters := range []string{"1", "3"} {
		t.Run(masters, func(t *testing.T) { comeAgain(t, masters) })
	}
}

// comesAgainAt is an address of this machine at which no other process takes a port while the
// platform is down.
const comesAgainAt = "127.0.0.78"

func comeAgain(t *testing.T, masters string) {
	p := newTrial(t)
	p.start([]string{built().trial}, "--tree", "1x1", "--masters", masters, "--listen", comesAgainAt, "--no-restart")
	list, err := discovery.Masters(p.dir)
	require.NoError(t, err)
	server := newElsewhere(t)
	first := server.serve(p, "--join", p.token(), "--name", "far", built().trial)
	p.await("far: has the parent ma")
	p.end()
	p.eventLog.Reset()
	p.start([]string{built().trial}, "--tree", "1x1", "--masters", masters, "--listen", comesAgainAt, "--no-restart")
	again, err := discovery.Masters(p.dir)
	require.NoError(t, err)
	assert.Equal(t, list, again)
	p.await("far: has the parent ma") // far has waited for the master
	require.NoError(t, first.Process.Signal(syscall.SIGKILL))
	_ = first.Wait()
	server.serve(p, built().trial)
	p.until("far to come again", func() bool { return strings.Count(p.eventLog.String(), "far: has the parent") == 2 })
}

// TestJoinedHasCheckpoints: with the platform's own store a call that has lost its server continues
// at a joined server from its checkpoint.
func TestJoinedHasCheckpoints(t *testing.T) {
	longtest.Skip(t, "a platform with a store")
	p := startTrial(t, "--tree", "1x1", "--store", "jetstream", "--no-restart")
	server := newElsewhere(t)
	var once sync.Once
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		if e.What == gridrpc.Checkpointed && e.Server == "s1" {
			once.Do(func() {
				server.serve(p, "--join", p.token(), "--name", "far", built().trial)
				p.await("far: has the parent ma")
				p.signal("s1", syscall.SIGKILL)
			})
		}
	})
	out, err := gridrpc.Service[count, counted](p.dial(), "count").Call(t.Context(), &count{To: 4, Holds: []int{2}}, watch)
	require.NoError(t, err)
	assert.Equal(t, "far", out.Server)
	assert.Equal(t, "1 2 3 4 ", out.Text)
	assert.Positive(t, out.From)
}

// TestProgramJoins: a program joins without the command: a server by a field, a client by an
// option.
func TestProgramJoins(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--listen", "localhost", "--no-restart")
	p.signal("s1", syscall.SIGKILL)
	p.await("s1 died")
	e := newElsewhere(t)
	cmd := e.command()
	cmd.Path, cmd.Args = built().trial, []string{built().trial}
	cmd.Env = append(cmd.Env, "TRIAL_JOIN="+p.token())
	e.start(p, cmd)
	p.await("by-itself: has the parent ma")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	c, err := gridrpc.Dial(ctx, "", gridrpc.As(gridrpc.Membership{Dir: filepath.Join(t.TempDir(), "id"), Token: p.token("--role", "client")}))
	require.NoError(t, err)
	defer c.Close()
	out, err := gridrpc.Service[float64, where](c, "square").Call(ctx, new(3.0))
	require.NoError(t, err)
	assert.Equal(t, where{Server: "by-itself", Attempt: 1, Value: 9}, *out)
}

// isPrivate requires that only its owner can read a folder.
func isPrivate(t *testing.T, dir string) {
	files := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else {
			files++
		}
		assert.Equal(t, want, info.Mode().Perm(), path)
		return nil
	}))
	assert.Positive(t, files)
}

// TestJoinRoles: the rights of a certificate that a token gave, on a platform with three masters.
// Its holder has no vote among them.
func TestJoinRoles(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--masters", "3", "--no-restart")
	p.await("is the root, of term")
	enter := func(role string, server bool) (*link.Identity, string) {
		dir, _, err := gridrpc.Enter(t.Context(), gridrpc.Membership{Dir: filepath.Join(t.TempDir(), role), Token: p.token("--role", role), Name: "far-" + role}, server)
		require.NoError(t, err)
		id, err := join.Load(dir)
		require.NoError(t, err)
		return id, dir
	}
	client, home := enter("client", false)
	server, _ := enter("server", true)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()

	_, complaint := newElsewhere(t).run("serve", "--identity", home, built().trial)
	assert.Contains(t, complaint, "far-client is a client, not a server")
	require.Equal(t, 1, strings.Count(complaint, "\n"))

	// The platform refuses any request of the machine.
	for _, c := range []struct {
		id   *link.Identity
		name string
		tier uint32
	}{{client, "far-client", treehost.ServerTier}, {client, "far-client", 1}, {server, "far-server", 1}, {server, "s1", treehost.ServerTier}} {
		assert.Equal(t, codes.PermissionDenied, status.Code(p.joinAs(ctx, c.id, c.name, c.tier)), "%+v", c)
	}
	conn, err := server.Dial(p.rootAddr(ctx))
	require.NoError(t, err)
	defer conn.Close()
	_, err = pb.NewAgentClient(conn).Schedule(ctx, &pb.ScheduleRequest{Service: "square"})
	assert.Equal(t, codes.PermissionDenied, status.Code(err), "servers schedule nothing")

	masters, err := discovery.Peers(p.dir, discovery.Council)
	require.NoError(t, err)
	require.Len(t, masters, 3)
	voter, err := link.Load(p.dir, "ma1")
	require.NoError(t, err)
	assert.NoError(t, votes(masters[1].Route, voter))
	for _, id := range []*link.Identity{client, server} {
		assert.Error(t, votes(masters[1].Route, id), "only masters vote")
	}
}

// votes connects to a master as another master does, and returns an error if the master closes the
// connection.
func votes(addr string, id *link.Identity) error {
	conn, err := tls.Dial("tcp", addr, id.TLS(link.Master))
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil { // a master that accepts waits for a request
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// rootAddr returns the address of the root.
func (p *trial) rootAddr(ctx context.Context) string {
	id, err := link.Load(p.dir, "client")
	require.NoError(p.t, err)
	root, err := discovery.Root(ctx, p.dir, id)
	require.NoError(p.t, err)
	return root.Addr
}

// joinAs asks the root to accept a child.
func (p *trial) joinAs(ctx context.Context, id *link.Identity, name string, tier uint32) error {
	conn, err := id.Dial(p.rootAddr(ctx))
	require.NoError(p.t, err)
	defer conn.Close()
	probed, err := pb.NewNodeClient(conn).Probe(ctx, &pb.ProbeRequest{})
	require.NoError(p.t, err)
	stream, err := pb.NewAgentClient(conn).Link(ctx)
	require.NoError(p.t, err)
	child := &pb.Ref{Name: name, Incarnation: 1, Addr: "127.0.0.1:1", Tier: tier}
	require.NoError(p.t, stream.Send(&pb.Up{Kind: &pb.Up_Join{Join: &pb.Join{Child: child, Generation: 1, Parent: probed.Me}}}))
	_, err = stream.Recv()
	return err
}

// TestJoinMistakes: the error for each mistake is one line with the remedy.
func TestJoinMistakes(t *testing.T) {
	longtest.Skip(t, "a dozen servers that are refused")
	p := startTrial(t, "--tree", "1x1", "--no-restart")
	other := newTrial(t)
	other.start([]string{built().trial}, "--tree", "1x1", "--no-restart")
	t.Setenv(gridrpc.EnvDir, p.dir)
	e := newElsewhere(t)
	refused := func(want, remedy string, args ...string) {
		t.Helper()
		_, complaint := e.run(append(args, built().trial)...)
		assert.Contains(t, complaint, want)
		assert.Contains(t, complaint, remedy)
		assert.Equal(t, 1, strings.Count(complaint, "\n"), complaint)
	}
	good := p.token()
	refused("no token", "gridrpc token new", "serve", "--join", good[:len(good)-30])
	refused("no identity in", "--join TOKEN", "serve")
	refused("another role", "--role server", "serve", "--join", p.token("--role", "client"))
	refused("name is taken", "--name", "serve", "--join", good, "--name", "s1")

	used := p.token()
	_, _, err := gridrpc.Enter(t.Context(), gridrpc.Membership{Dir: filepath.Join(t.TempDir(), "id"), Token: used, Name: "far"}, true)
	require.NoError(t, err)
	refused("used up", "--uses", "serve", "--join", used)
	_, _, err = gridrpc.Enter(t.Context(), gridrpc.Membership{Dir: filepath.Join(t.TempDir(), "id"), Token: used}, true)
	require.ErrorIs(t, err, gridrpc.ErrDenied)
	refused("name is taken", "--name", "serve", "--join", good, "--name", "far")

	list, err := exec.Command(built().gridrpc, "token", "ls", "--dir", p.dir).Output()
	require.NoError(t, err)
	id := strings.Fields(strings.Split(string(list), "\n")[1])[0]
	require.NoError(t, exec.Command(built().gridrpc, "token", "revoke", "--dir", p.dir, id).Run())
	refused("revoked", "ask who runs", "serve", "--join", good)

	parts := strings.SplitN(p.token(), ".", 4)
	there := strings.SplitN(other.token(), ".", 4)
	refused("not a master of the platform", "compare the address", "serve", "--join", strings.Join([]string{parts[0], parts[1], parts[2], there[3]}, "."))
	agent := discovery.Address(p.dir, "a1") // of the platform, but no master
	refused("not a master of the platform", "compare the address", "serve", "--join", strings.Join([]string{parts[0], parts[1], parts[2], agent}, "."))
	refused("no master of the platform answers", "--listen", "serve", "--join", strings.Join([]string{parts[0], parts[1], parts[2], "127.0.0.1:1"}, "."))
	refused("another platform", "--identity", "serve", "--join", other.token(), "--identity", e.joined(p))
}

// joined returns the folder of an identity of a platform.
func (e elsewhere) joined(p *trial) string {
	dir := filepath.Join(e.home, "joined")
	_, _, err := gridrpc.Enter(e.t.Context(), gridrpc.Membership{Dir: dir, Token: p.token()}, true)
	require.NoError(e.t, err)
	return dir
}

// TestCertificatesRenewed: a call outlives several certificates of all processes. No connection is
// cut, and later clients are served. Certificates are renewed every few seconds. They last long
// enough that none ends if all processes are delayed. link.TestRenewal shows in virtual time that
// connections outlive ended certificates.
func TestCertificatesRenewed(t *testing.T) {
	longtest.Skip(t, "waits until certificates are renewed")
	p := startTrial(t, "--tree", "1x1", "--certificates", "24h", "--renew-after", "2s", "--no-restart")
	p.signal("s1", syscall.SIGKILL)
	p.await("s1 died")
	server := newElsewhere(t)
	server.serve(p, "--join", p.token(), "--name", "far", built().trial)
	p.await("far: has the parent ma")
	dir, _, err := gridrpc.Enter(t.Context(), gridrpc.Membership{Dir: filepath.Join(t.TempDir(), "id"), Token: p.token("--role", "client")}, false)
	require.NoError(t, err)
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe+"-1", 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	c, err := gridrpc.Dial(ctx, "", gridrpc.As(gridrpc.Membership{Dir: dir}))
	require.NoError(t, err)
	defer c.Close()
	s, err := gridrpc.Service[string, where](c, "relay").Go(ctx, &pipe)
	require.NoError(t, err)
	for _, name := range []string{"far", "ma", "a1"} {
		p.until(name+" to be renewed 3 times", func() bool {
			return strings.Count(p.eventLog.String(), fmt.Sprintf("%s: its certificate is renewed", name)) >= 3
		})
	}
	late, err := gridrpc.Dial(ctx, "", gridrpc.As(gridrpc.Membership{Dir: dir}))
	require.NoError(t, err)
	defer late.Close()
	out, err := gridrpc.Service[float64, where](late, "square").Call(ctx, new(3.0))
	require.NoError(t, err)
	assert.Equal(t, where{Server: "far", Attempt: 1, Value: 9}, *out)
	require.NoError(t, os.WriteFile(pipe+"-1", nil, 0o600))
	out, err = s.Wait(ctx)
	require.NoError(t, err)
	assert.Equal(t, where{Server: "far", Attempt: 1}, *out)
	assert.Equal(t, 1, strings.Count(p.told(), "far: has the parent"), "its link was never cut")
}
