package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// examineMachine examines the kernel and the limits of this machine for a job of n ranks.
func examineMachine(n int) []finding {
	return []finding{kernel(), sharedMemory(), pidfds(), waits(), barriers(), copies(), cores(n), openFiles(n), addresses(), processes(n), memoryLimit(n)}
}

func kernel() finding {
	var u unix.Utsname
	_ = unix.Uname(&u)
	return well("kernel", "Linux %s, %s", unix.ByteSliceToString(u.Release[:]), runtime.GOARCH)
}

// forbidden is the remedy for a system call that the kernel has and a policy denies.
const forbidden = "a seccomp profile forbids it: the default one of Docker and of Kubernetes (RuntimeDefault) does not"

// remedyOf returns the remedy for a failed system call that Linux has since a version.
func remedyOf(err error, since string) string {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return forbidden
	}
	return "Linux has it since " + since
}

func sharedMemory() finding {
	fd, err := unix.MemfdCreate("goulfm-doctor", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return finding{isMissing, "memory between ranks", "memfd_create: " + err.Error(), remedyOf(err, "3.17")}
	}
	unix.Close(fd)
	return well("memory between ranks", "memfd")
}

func pidfds() finding {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return finding{isSlow, "ranks of an engine", "pidfd_open: " + err.Error(), "srun ./prog and mpiexec ./prog need it, goulfm run does not; " + remedyOf(err, "5.3")}
	}
	unix.Close(fd)
	return well("ranks of an engine", "their deaths are seen by pidfds")
}

const sysFutexWaitv = 449

func waits() finding {
	_, _, errno := syscall.Syscall6(sysFutexWaitv, 0, 0, 0, 0, 0, 0)
	if errno != unix.EINVAL { // EINVAL: the call exists and rejects an empty list
		return finding{isSlow, "waits", "futex_waitv: " + errno.Error(), "waits for several things at once take longer without it; " + remedyOf(errno, "5.16")}
	}
	return well("waits", "futex_waitv")
}

func barriers() finding {
	const query, globalExpedited = 0, 1 << 1
	have, _, errno := syscall.Syscall(unix.SYS_MEMBARRIER, query, 0, 0)
	if errno != 0 || have&globalExpedited == 0 {
		return finding{isSlow, "fences", "no membarrier", "small messages cost a fence each without it; " + remedyOf(errno, "4.16")}
	}
	return well("fences", "membarrier")
}

// copies tests whether a process can read the memory of a process with the same parent, as ranks
// do.
func copies() finding {
	const what = "long messages"
	err := siblings()
	if err == nil {
		return well(what, "process_vm_readv between processes")
	}
	remedy := "they are copied in pieces through shared memory, which takes longer; "
	if scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); strings.TrimSpace(string(scope)) >= "1" {
		remedy += "sysctl kernel.yama.ptrace_scope=0 allows it"
	} else {
		remedy += forbidden
	}
	return finding{isSlow, what, err.Error(), remedy}
}

// siblingVariable selects the role of a goulfm doctor in that test: with "shown" the process prints
// an address, with PID:ADDRESS it reads the memory there.
const siblingVariable = "GOULFM_DOCTOR_SIBLING"

// siblings starts a process that prints the address of a byte, and a second process that reads this
// byte.
func siblings() error {
	shown := exec.Command("/proc/self/exe", "doctor")
	shown.Env = append(os.Environ(), siblingVariable+"=shown")
	in, err := shown.StdinPipe()
	if err != nil {
		return err
	}
	out, err := shown.StdoutPipe()
	if err != nil {
		return err
	}
	if err := shown.Start(); err != nil {
		return err
	}
	defer func() { _ = in.Close(); _ = shown.Wait() }()
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		return err
	}
	reads := exec.Command("/proc/self/exe", "doctor")
	reads.Env = append(os.Environ(), siblingVariable+"="+strconv.Itoa(shown.Process.Pid)+":"+address)
	said, err := reads.CombinedOutput()
	if err != nil {
		return errOf(err, string(said))
	}
	return nil
}

// sibling runs the role of one of these two processes. isOne is false if this process has no role.
func sibling(role string) (code int, isOne bool) {
	if role == "" {
		return 0, false
	}
	if role == "shown" {
		memory := []byte{42}
		fmt.Printf("%d\n", uintptr(unsafe.Pointer(&memory[0])))
		_, _ = io.Copy(io.Discard, os.Stdin)
		runtime.KeepAlive(memory)
		return 0, true
	}
	var pid, address int
	if _, err := fmt.Sscanf(role, "%d:%d", &pid, &address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2, true
	}
	mine := make([]byte, 1)
	local := []unix.Iovec{{Base: &mine[0]}}
	local[0].SetLen(1)
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: 1}}, 0)
	if err == nil && mine[0] != 42 {
		err = errors.New("another byte")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "process_vm_readv:", err)
		return 1, true
	}
	return 0, true
}

func cores(n int) finding {
	usable := min(runtime.NumCPU(), runtime.GOMAXPROCS(0))
	f := well("cores", "%d of %d may be used", usable, online())
	if n > usable {
		f.text += fmt.Sprintf("; %d ranks share them", n)
	}
	if usable == 1 && online() > 1 && n > 1 {
		f.grade, f.remedy = isSlow, "this process is bound to one: srun -c N, mpirun --bind-to none, or the pod's limits give more"
	}
	return f
}

// online returns the number of cores of the machine.
func online() int {
	names, _ := os.ReadDir("/sys/devices/system/cpu")
	count := 0
	for _, e := range names {
		if number, ok := strings.CutPrefix(e.Name(), "cpu"); ok {
			if _, err := strconv.Atoi(number); err == nil {
				count++
			}
		}
	}
	return max(count, runtime.NumCPU())
}

// The needs of ranks. The numbers of files are those of the check in package launch. The threads
// and the bytes were measured at one rank.
const (
	filesOfRank   = 5
	filesOfJob    = 64
	threadsOfRank = 16
	bytesOfRank   = 32 << 20
)

func openFiles(n int) finding {
	var lim unix.Rlimit
	need := uint64(n)*filesOfRank + filesOfJob
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err == nil && lim.Max < need {
		return finding{isMissing, "open files", fmt.Sprintf("%d ranks need %d, the limit is %d", n, need, lim.Max), fmt.Sprintf("ulimit -n %d", need)}
	}
	return well("open files", "%s are allowed, %d ranks need %d", limitText(lim.Max), n, need)
}

func limitText(n uint64) string {
	if n == unix.RLIM_INFINITY {
		return "any number"
	}
	return strconv.FormatUint(n, 10)
}

func addresses() finding {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &lim); err == nil && lim.Cur != unix.RLIM_INFINITY {
		return finding{isSlow, "addresses", fmt.Sprintf("a process may have %d MiB", lim.Cur>>20), "ulimit -v unlimited: the memory of all ranks is mapped in each, though hardly used"}
	}
	return well("addresses", "not limited")
}

func processes(n int) finding {
	need := uint64(n) * threadsOfRank
	limit, from := cgroupLimit("pids.max"), "the cgroup's pids.max"
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &lim); err == nil && os.Getuid() != 0 && lim.Cur < limit {
		limit, from = lim.Cur, "ulimit -u"
	}
	if limit < need {
		return finding{isSlow, "threads", fmt.Sprintf("%d ranks have up to %d, and %s allows %d", n, need, from, limit), "raise it, or start fewer ranks"}
	}
	return well("threads", "%s are allowed, %d ranks have up to %d", limitText(limit), n, need)
}

func memoryLimit(n int) finding {
	need := uint64(n) * bytesOfRank
	if limit := cgroupLimit("memory.max"); limit < need {
		return finding{isSlow, "memory", fmt.Sprintf("%d ranks take %d MiB before the program has any, and the cgroup allows %d MiB", n, need>>20, limit>>20), "a rank that exceeds it is killed: raise the limit of the task or the pod"}
	} else if limit != unix.RLIM_INFINITY {
		return well("memory", "the cgroup allows %d MiB", limit>>20)
	}
	return well("memory", "not limited by a cgroup")
}

// cgroupLimit returns the least limit of that name in the cgroup of this process and in those above
// (cgroup v2).
func cgroupLimit(name string) uint64 {
	least := uint64(unix.RLIM_INFINITY)
	text, _ := os.ReadFile("/proc/self/cgroup")
	_, path, ok := strings.Cut(string(text), "0::")
	if !ok {
		return least
	}
	path, _, _ = strings.Cut(path, "\n")
	for {
		value, _ := os.ReadFile("/sys/fs/cgroup" + path + "/" + name)
		if n, err := strconv.ParseUint(strings.TrimSpace(string(value)), 10, 64); err == nil {
			least = min(least, n)
		}
		at := strings.LastIndex(path, "/")
		if at < 0 {
			return least
		}
		path = path[:at]
	}
}
