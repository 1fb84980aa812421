package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nobody is a user without processes, in most systems.
const nobody = 65534

// TestLimits runs jobs under limits that batch systems set. Each job starts, or one line names the
// limit and the value that the job needs.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name, limit string
		args        []string
		code        int
		says        string // of standard error
		other       bool   // root runs the job as another user
	}{
		{"files of 10 GB", "-f 10000000", []string{"-n", "2"}, 0, "recovery does without memory of the node: shared memory goulfm-keep needs [0-9]+ KiB", false},
		{"files of 1 MB", "-f 1000", []string{"-n", "2"}, 3, `^goulfm run: shared memory goulfm-arenas needs \d+ KiB, the limit of the size of files is 1000: raise it \(ulimit -f unlimited\): file too large\n$`, false},
		{"files of 1 MB, two nodes", "-f 1000", []string{"--host", "2"}, 3, `^goulfm run: node \d \(local\d\): goulfm daemon: shared memory goulfm-arenas needs \d+ KiB`, false},
		{"addresses", "-v 1000000", []string{"-n", "4"}, 2, `^goulfm run: \d+ processes need \d+ MiB of addresses each, the limit is 976: raise it \(ulimit -v unlimited\)`, false},
		{"open files", "-n 64", []string{"-n", "4"}, 2, `^goulfm run: -n 4 needs 84 open files, the limit is 64: raise it`, false},
		{"locked memory", "-l 0", []string{"-n", "2"}, 0, "^$", false},
		{"threads", "-u 20", []string{"-n", "4"}, 2, `^goulfm run: -n 4 needs \d+ threads with those that this user has, the limit is 20: raise it \(ulimit -u \d+\) or start fewer ranks\n$`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"-c", "ulimit " + c.limit + ` && exec "$0" "$@"`, goulfm}, patient(append(append([]string{"run"}, c.args...), "true"))...)
			cmd := limited(t, "bash", args...)
			if c.other && os.Getuid() == 0 { // another user may lack access to the folder of the program
				program, err := os.Open(goulfm)
				require.NoError(t, err)
				defer program.Close()
				cmd.ExtraFiles, cmd.Args[3] = []*os.File{program}, "/proc/self/fd/3"
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			}
			got := outcome(t, cmd)
			assert.Equal(t, c.code, got.code, "%s", got.err)
			assert.Regexp(t, c.says, got.err)
		})
	}
}
