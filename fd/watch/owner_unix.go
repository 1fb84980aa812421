//go:build unix

package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ownerOf names the owner of the folder of a socket, as far as this user can see that.
func ownerOf(path string) string {
	st, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return "another user"
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return "another user"
	}
	return fmt.Sprintf("user %d", sys.Uid)
}
