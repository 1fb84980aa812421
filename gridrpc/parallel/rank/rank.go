// Package rank is for the ranks of a parallel service: it reads the argument of the call, names the
// folder of versions, and returns the result. See package parallel.
package rank

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goulfm/goulfm/recovery"
)

// Names in the environment of ranks.
const (
	EnvArgument = "GRIDRPC_ARGUMENT" // file
	EnvResult   = "GRIDRPC_RESULT"   // file, written by Return
	EnvVersions = "GRIDRPC_VERSIONS" // folder
	envCall     = "GRIDRPC_CALL"     // socket of the call
)

// Is reports whether this process is a rank of a parallel service.
func Is() bool { return os.Getenv(EnvArgument) != "" }

// Argument reads the argument of the call into *in. Every rank may do so.
func Argument(in any) error {
	data, err := os.ReadFile(os.Getenv(EnvArgument))
	if err != nil {
		return fmt.Errorf("rank: argument: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return fmt.Errorf("rank: argument: %w", err)
	}
	return nil
}

// Return makes a value the result of the call, once the job has ended. Return may be called again,
// also by another rank, because a body is called at least once. The last value counts.
func Return(out any) error {
	data, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("rank: result: %w", err)
	}
	path := os.Getenv(EnvResult)
	if path == "" {
		return errors.New("rank: result: this process is no rank of a parallel service")
	}
	fresh, err := os.CreateTemp(filepath.Dir(path), "result")
	if err != nil {
		return err
	}
	_, err = fresh.Write(data)
	if err = errors.Join(err, fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	return err
}

// Files names the folder to which package recovery writes versions, from which the call can
// continue at another server. The program may change the other fields. In a process that is no rank
// of a parallel service no folder is named.
func Files() recovery.Files { return recovery.Files{Dir: os.Getenv(EnvVersions)} }

// tellWithin bounds the time to report progress to the server.
const tellWithin = time.Second

// Progress reports progress to the caller: done of total, and a text of one line. One rank should
// do so. On several machines only ranks on the server's machine can.
func Progress(done, total float64, text string) error {
	conn, err := net.DialTimeout("unix", os.Getenv(envCall), tellWithin)
	if err != nil {
		return fmt.Errorf("rank: progress: %w", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(tellWithin))
	if _, err := fmt.Fprintf(conn, "progress %g %g %s\n", done, total, text); err != nil {
		return fmt.Errorf("rank: progress: %w", err)
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(answer, "ok") {
		err = errors.New(strings.TrimSpace(answer))
	}
	if err != nil {
		return fmt.Errorf("rank: progress: %w", err)
	}
	return nil
}
