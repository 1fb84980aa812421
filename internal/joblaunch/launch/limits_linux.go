package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"golang.org/x/sys/unix"
)

func (s *Spec) check() error {
	if s.N < 1 || s.N > RanksMax {
		return fmt.Errorf("-n %d: want 1 to %d ranks on one machine", s.N, RanksMax)
	}
	if s.Universe != 0 && (s.Universe < s.N || s.Universe > RanksMax) {
		return fmt.Errorf("--universe %d: want at least the %d ranks of -n, and at most %d processes", s.Universe, s.N, RanksMax)
	}
	if s.Ring && s.Universe > s.N {
		return fmt.Errorf("--universe %d: %s", s.Universe, needsExact)
	}
	if s.Grace < 0 {
		return fmt.Errorf("--grace %s: want 0, which waits without end, or more", s.Grace)
	}
	if s.Spares < 0 || s.Limited && s.Respawn < 0 {
		return fmt.Errorf("--spares %d, --respawn %d: want 0 or more", s.Spares, s.Respawn)
	}
	if s.Spares > 0 && s.Ring {
		return fmt.Errorf("--spares %d: %s", s.Spares, needsExact)
	}
	if s.Spares > 0 && s.Universe > 0 && s.Universe < s.N+s.Spares {
		return fmt.Errorf("--universe %d: want at least the %d ranks and %d spares", s.Universe, s.N, s.Spares)
	}
	if len(s.Hosts.Nodes) == 0 || s.Hosts.Launcher == LauncherLocal {
		if err := daemon.CheckDir(s.Dir); err != nil {
			return fmt.Errorf("--wdir: %w", err)
		}
	}
	if err := s.checkRestarts(); err != nil {
		return err
	}
	if s.Fence && s.SuspectAfter == 0 && !s.Ring {
		return fmt.Errorf("--fence: say with --suspect-after how long a rank may show no life, or with --detector ring")
	}
	if err := s.checkNodes(); err != nil {
		return err
	}
	if len(s.Hosts.Nodes) == 0 && len(s.Cuts) > 0 {
		return s.checkCuts()
	}
	for _, st := range s.Stops {
		if st.Node >= len(s.Hosts.Nodes) {
			return fmt.Errorf("--stop node%d@...: there are nodes 0 to %d (--host)", st.Node, len(s.Hosts.Nodes)-1)
		}
		if s.Hosts.Launcher != LauncherLocal {
			return fmt.Errorf("--stop: nodes of this machine alone can be stopped (--host NUMBER, --launcher local)")
		}
	}
	for _, k := range s.Kills {
		if k.Self {
			if len(s.Hosts.Nodes) == 0 {
				return fmt.Errorf("--kill launcher@...: on one machine nothing is left without it: name the nodes of the job with --host")
			}
			continue
		}
		if k.Node > 0 {
			if len(s.Hosts.Nodes) == 0 {
				return fmt.Errorf("--kill node%d@...: name the nodes of the job with --host", k.Node-1)
			}
			if k.Node > len(s.Hosts.Nodes) {
				return fmt.Errorf("--kill node%d@...: there are nodes 0 to %d", k.Node-1, len(s.Hosts.Nodes)-1)
			}
			if k.Point != "" && s.Hosts.Survive {
				return fmt.Errorf("--kill node%d@%s=%d: not with --survive-launcher: the launcher, which kills the node, may be gone", k.Node-1, k.Point, k.Value)
			}
			continue
		}
		if k.Point == "" && k.Rank >= s.N || k.Rank < 0 {
			return fmt.Errorf("--kill %s: there are ranks 0 to %d", k.Text, s.N-1)
		}
		if k.Rank >= s.universe() {
			return fmt.Errorf("--kill %s: the job can have ranks 0 to %d (--universe)", k.Text, s.universe()-1)
		}
	}
	if r, err := strconv.Atoi(s.Stdin); s.Stdin != "none" && s.Stdin != "all" && (err != nil || r < 0 || r >= s.N) {
		return fmt.Errorf("--stdin %s: want none, all, or a rank from 0 to %d", s.Stdin, s.N-1)
	}
	return s.checkLimits()
}

// needsExact is the reason why no process can be started later where heartbeats between ranks find
// deaths: each rank monitors its neighbour, and the ring has no place for a further rank.
const needsExact = "replacement needs exact detection: run without --detector ring"

// checkLimits checks the resources of the job before any process starts.
func (s *Spec) checkLimits() error {
	return errors.Join(s.checkFiles(), s.checkThreads(), s.checkAddresses())
}

// The least number of threads that the Go runtime makes in a rank, and in the launcher. A runtime
// that gets no thread ends its process with a register dump.
const rankThreads, launcherThreads = 8, 12

// checkThreads reports whether the user may have the threads of the job, besides the user's present
// ones. The limit does not hold for root.
func (s *Spec) checkThreads() error {
	var lim unix.Rlimit
	elsewhere := len(s.Hosts.Nodes) > 0 && s.Hosts.Launcher != LauncherLocal
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &lim); err != nil || unix.Geteuid() == 0 || elsewhere {
		return nil
	}
	own := uint64(s.N)*rankThreads + launcherThreads
	if lim.Cur > own+manyThreads {
		return nil
	}
	if need := own + threadsOfUser(unix.Geteuid()); need > lim.Cur {
		return fmt.Errorf("-n %d needs %d threads with those that this user has, the limit is %d: raise it (ulimit -u %d) or start fewer ranks", s.N, need, lim.Cur, need)
	}
	return nil
}

// manyThreads is more than a user has: a higher limit needs no count.
const manyThreads = 10_000

// threadsOfUser counts the threads of all processes of a user.
func threadsOfUser(uid int) (n uint64) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		var st unix.Stat_t
		if unix.Stat(dir, &st) != nil || int(st.Uid) != uid {
			continue
		}
		threads, _ := os.ReadDir(filepath.Join(dir, "task"))
		n += uint64(len(threads))
	}
	return n
}

func (s *Spec) checkFiles() error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return nil
	}
	need := uint64(s.N)*5 + 64
	if lim.Max < need {
		return fmt.Errorf("-n %d needs %d open files, the limit is %d: raise it (ulimit -n %d) or start fewer ranks", s.N, need, lim.Max, need)
	}
	if lim.Cur < need {
		lim.Cur = lim.Max
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &lim)
	}
	return nil
}

// ownAddresses is the address space of a rank besides the memory of the job, in bytes.
const ownAddresses = 1 << 30

// checkAddresses reports whether ranks can map the memory of all processes. Where the processes
// that may be started later do not fit, the job has room for none, unless --universe asks for them.
func (s *Spec) checkAddresses() error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &lim); err != nil || lim.Cur == unix.RLIM_INFINITY {
		return nil
	}
	need := func(procs int) uint64 { return uint64(segment.ArenasBytes(procs)) + ownAddresses }
	if s.Universe == 0 && need(s.universe()) > lim.Cur {
		s.Universe = s.N
	}
	if procs := s.universe(); need(procs) > lim.Cur {
		return fmt.Errorf("%d processes need %d MiB of addresses each, the limit is %d: raise it (ulimit -v unlimited), or start fewer (-n, --universe)", procs, need(procs)>>20, lim.Cur>>20)
	}
	return nil
}
