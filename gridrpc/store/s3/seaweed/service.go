package seaweed

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// EnvWeed names the program of SeaweedFS, weed.
const EnvWeed = "GRIDRPC_WEED"

// within bounds the waits of a test. No test measures this time.
const within = 2 * time.Minute

// user and secret are of an account with all rights.
const (
	user   = "me"
	secret = "secret"
)

// Service is a running SeaweedFS of one test.
type Service struct {
	t         testing.TB
	weed      string
	dir       string
	volumes   int
	processes []*process // in the order in which they start
	master    string     // HOST:PORT
	s3        string     // HOST:PORT of the S3 protocol
}

// Start starts a service with the given numbers of volume servers (v1, v2, ...) and of copies, and
// returns when all servers have joined. It sets the environment of the test to the service. Start
// skips the test without the program, and in short tests.
func Start(t testing.TB, volumes, copies int) *Service {
	weed := os.Getenv(EnvWeed)
	if weed == "" || testing.Short() {
		t.Skipf("%s does not name the program of a real service, or tests are short: \"make s3\" builds it and runs this", EnvWeed)
	}
	dir := t.TempDir()
	s := &Service{t: t, weed: weed, dir: dir, volumes: volumes}
	s.plan(volumes, copies)
	t.Cleanup(s.end)
	for _, p := range s.processes {
		p.start(t, weed)
	}
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": "http://" + s.s3, "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": user, "AWS_SECRET_ACCESS_KEY": secret} {
		t.Setenv(name, value)
	}
	s.AwaitVolumes(s.volumes)
	return s
}

// plan sets the processes and their addresses.
func (s *Service) plan(volumes, copies int) {
	ports := freePorts(s.t, 6+2*volumes)
	at := func(i int) []string { // the address and two ports of a server
		return []string{"-ip=127.0.0.1", "-ip.bind=127.0.0.1", fmt.Sprint("-port=", ports[i]), fmt.Sprint("-port.grpc=", ports[i+1])}
	}
	add := func(name, kind string, ports []string, args ...string) {
		s.processes = append(s.processes, &process{name: name, dir: filepath.Join(s.dir, name), args: slices.Concat([]string{kind}, ports, args)})
	}
	s.master, s.s3 = fmt.Sprint("127.0.0.1:", ports[0]), fmt.Sprint("127.0.0.1:", ports[4])
	master := fmt.Sprint("-master=", s.master, ".", ports[1])
	add("master", "master", at(0), "-mdir=.", "-peers=none", "-telemetry=false", "-volumeSizeLimitMB=256", fmt.Sprintf("-defaultReplication=%03d", copies-1))
	for i := range volumes {
		add(fmt.Sprint("v", i+1), "volume", at(6+2*i), "-dir=.", "-max=100", master)
	}
	who := filepath.Join(s.dir, "who.json")
	s.writeIdentity(who)
	add("filer", "filer", at(2), master, "-defaultStoreDir=.", "-localSocket=filer.sock")
	// The S3 gateway has a process of its own: within the filer, the gateway finds the filer only
	// at ports that differ by 10000. A path of a socket may have 108 bytes, and the folder of a
	// test may exceed that: sockets are in the folder of their process.
	add("s3", "s3", at(4), "-config="+who, fmt.Sprint("-filer=127.0.0.1:", ports[2], ".", ports[3]), "-port.iceberg=0", "-port.lance=0", "-localSocket=s3.sock")
}

// writeIdentity writes the account and its rights.
func (s *Service) writeIdentity(path string) {
	const all = `{"identities": [{"name": "tests", "credentials": [{"accessKey": %q, "secretKey": %q}], "actions": ["Admin", "Read", "List", "Write"]}]}`
	require.NoError(s.t, os.WriteFile(path, fmt.Appendf(nil, all, user, secret), 0o600))
}

// freePorts returns ports at which no process listens. Another process may use one before the
// service does, but the kernel assigns other ports first.
func freePorts(t testing.TB, n int) (ports []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { assert.NoError(t, l.Close()) }() // all stay open until the last one, so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// end ends all processes, and logs their last lines if the test has failed.
func (s *Service) end() {
	for _, p := range slices.Backward(s.processes) {
		p.kill()
		if s.t.Failed() {
			s.t.Logf("%s logged:\n%s", p.name, p.said(40))
		}
	}
}

// of returns a process.
func (s *Service) of(name string) *process {
	i := slices.IndexFunc(s.processes, func(p *process) bool { return p.name == name })
	require.GreaterOrEqual(s.t, i, 0, "no process %s", name)
	return s.processes[i]
}

// Kill kills one of master, v1, v2, ..., filer and s3 by SIGKILL, and returns after its end.
func (s *Service) Kill(name string) { s.of(name).kill() }

// Restart restarts a killed process at the same address, with its data on disk.
func (s *Service) Restart(name string) { s.of(name).start(s.t, s.weed) }

// KillAll ends all processes as Kill does.
func (s *Service) KillAll() {
	for _, p := range s.processes {
		p.kill()
	}
}

// RestartAll restarts all processes after KillAll, and returns when the volume servers have joined.
func (s *Service) RestartAll() {
	for _, p := range s.processes {
		p.start(s.t, s.weed)
	}
	s.AwaitVolumes(s.volumes)
}

// AwaitVolumes waits until the S3 gateway answers, and the master knows n live volume servers.
func (s *Service) AwaitVolumes(n int) {
	s.t.Helper()
	require.EventuallyWithT(s.t, func(t *assert.CollectT) {
		c, err := net.Dial("tcp", s.s3)
		require.NoError(t, err)
		require.NoError(t, c.Close())
		nodes, err := s.liveVolumes()
		require.NoError(t, err)
		require.Equal(t, n, nodes)
	}, within, 20*time.Millisecond)
}

// liveVolumes asks the master for the number of live volume servers.
func (s *Service) liveVolumes() (n int, err error) {
	r, err := http.Get("http://" + s.master + "/dir/status")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Body.Close()) }()
	var status struct {
		Topology struct {
			DataCenters []struct {
				Racks []struct{ DataNodes []struct{} }
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&status); err != nil {
		return 0, err
	}
	for _, center := range status.Topology.DataCenters {
		for _, rack := range center.Racks {
			n += len(rack.DataNodes)
		}
	}
	return n, nil
}

// Bucket makes a bucket, and waits until the service can write to the bucket.
func (s *Service) Bucket(name string) {
	c, err := minio.New(s.s3, &minio.Options{Creds: credentials.NewStaticV4(user, secret, "")})
	require.NoError(s.t, err)
	ctx := s.t.Context()
	require.NoError(s.t, c.MakeBucket(ctx, name, minio.MakeBucketOptions{}))
	require.EventuallyWithT(s.t, func(t *assert.CollectT) {
		_, err := c.PutObject(ctx, name, "probe", strings.NewReader("x"), 1, minio.PutObjectOptions{DisableContentSha256: true})
		require.NoError(t, err)
	}, within, 20*time.Millisecond)
	require.NoError(s.t, c.RemoveObject(ctx, name, "probe", minio.RemoveObjectOptions{}))
}
