package enginejob_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A pmiServer plays mpiexec: each rank has a socket of its own to it.
type pmiServer struct {
	t     *testing.T
	name  string            // of the start
	wrong map[string]string // answers that are not the usual ones, by command; "": it closes
	mu    sync.Mutex
	asked map[int][]string // commands, by rank
}

func newServer(t *testing.T) *pmiServer {
	t.Helper()
	return &pmiServer{t: t, name: fmt.Sprintf("kvs_%d_0_%s", os.Getpid(), t.Name()), asked: map[int][]string{}}
}

// start starts a rank, with variables as hydra sets them.
func (p *pmiServer) start(s step, program string, rank int, env ...string) *rank {
	p.t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(p.t, err)
	theirs, mine := os.NewFile(uintptr(pair[0]), "rank"), os.NewFile(uintptr(pair[1]), "server")
	defer theirs.Close()
	defer mine.Close()
	conn, err := net.FileConn(mine)
	require.NoError(p.t, err)
	go p.serve(rank, conn)
	s.files = []*os.File{theirs}
	const fd = 3 // the first of them
	return s.start(program, rank, append([]string{fmt.Sprintf("PMI_FD=%d", fd), fmt.Sprintf("PMI_RANK=%d", rank), fmt.Sprintf("PMI_SIZE=%d", s.size),
		fmt.Sprintf("MPI_LOCALRANKID=%d", rank), fmt.Sprintf("MPI_LOCALNRANKS=%d", s.size),
		"SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0", "SLURM_GTIDS=0"}, env...)...) // those of a step around
}

func (p *pmiServer) serve(rank int, conn net.Conn) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		command := strings.TrimPrefix(strings.Fields(lines.Text())[0], "cmd=")
		p.mu.Lock()
		p.asked[rank] = append(p.asked[rank], command)
		p.mu.Unlock()
		said, isWrong := p.wrong[command]
		if !isWrong {
			said = map[string]string{"init": "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1",
				"get_my_kvsname": "cmd=my_kvsname rc=0 kvsname=" + p.name, "finalize": "cmd=finalize_ack rc=0"}[command]
		}
		if said == "" {
			return
		}
		fmt.Fprintln(conn, said)
	}
}

func (p *pmiServer) startAll(s step, program string) (all []*rank) {
	for number := range s.size {
		all = append(all, p.start(s, program, number))
	}
	return all
}

// TestOneWorldByPMI: ranks of mpiexec are one world. They ask the server for the name of their
// start and end the session, and their children are no ranks.
func TestOneWorldByPMI(t *testing.T) {
	s, p := newStep(t, 3), newServer(t)
	for number, r := range p.startAll(s, "parent") {
		assert.Contains(t, r.wait().rest, "child: rank 0 of 1")
		assert.Zero(t, r.code, r.errs)
		p.mu.Lock()
		assert.Equal(t, []string{"init", "get_my_kvsname", "finalize"}, p.asked[number])
		p.mu.Unlock()
		want := ""
		if number == 0 {
			want = "world: 3 ranks on 1 node by PMI-1 (hydra); hydra ends all ranks of a node when a signal kills one: mpiexec -n 1 goulfm run -n 3 PROGRAM survives that\n"
		}
		assert.Equal(t, want, r.errs.String())
	}
}

// TestADeathUnderPMI: the ranks survive a death like any other, if the engine permits.
func TestADeathUnderPMI(t *testing.T) {
	s, p := newStep(t, 3), newServer(t)
	all := p.startAll(s, "survive")
	for _, r := range all {
		assert.Equal(t, "together", r.line())
	}
	require.NoError(t, all[0].Process.Kill())
	for number, r := range all[1:] {
		assert.Equal(t, fmt.Sprintf("rank %d of 2\n", number), r.wait().rest)
		assert.Zero(t, r.code, r.errs)
	}
}

// TestPMIServersThatFail: each rank ends with code 3, and prints a remedy. None continues as a
// world of one.
func TestPMIServersThatFail(t *testing.T) {
	for _, c := range []struct{ command, said, want string }{
		{"init", "", "start each program with an mpiexec or srun of its own"},
		{"init", "cmd=response_to_init rc=-1", "the PMI server refuses"},
		{"init", "220 mail.example ESMTP", "is PMI_FD or PMI_PORT set by hand"},
		{"get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=a=b", "is PMI_FD or PMI_PORT set by hand"},
		{"finalize", "cmd=finalize_ack rc=1", "the PMI server refuses"},
	} {
		s, p := newStep(t, 2), newServer(t)
		p.wrong = map[string]string{c.command: c.said}
		r := p.start(s, "sum", 1).wait()
		assert.Equal(t, 3, r.code, c.command)
		assert.Empty(t, r.rest)
		assert.Contains(t, r.errs.String(), c.want)
		assert.Equal(t, 1, strings.Count(r.errs.String(), "\n"), r.errs.String())
	}
}
