// Package rank is what the ranks of a parallel service use: the argument of the call, where
// versions go, and the way back for the result. See package parallel.
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
	EnvResult   = "GRIDRPC_RESULT"   // file, which is there once a rank has returned
	EnvVersions = "GRIDRPC_VERSIONS" // folder
	envCall     = "GRIDRPC_CALL"     // socket of the call
)

// Is says whether this process is a rank of a parallel service.
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

// Return makes a value the result of the call, once the job has ended. It may be called again, by
// another rank perhaps: a body is called at least once. The last one counts.
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

// Files says where package recovery writes versions that the call can go on from at another server.
// How often, and what else is in it, the program may change. It is nowhere in a process that is no
// rank of a parallel service.
func Files() recovery.Files { return recovery.Files{Dir: os.Getenv(EnvVersions)} }

// tellWithin is how long the server may take to hear of progress.
const tellWithin = time.Second

// Progress tells the caller how far the job is: done of total, and a text of one line. One rank
// should do so. On several machines only those ranks can that are on the server's.
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
