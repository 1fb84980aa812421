// Package discovery reads and writes the addresses in the folder of a platform: those of the
// masters, of the agents and of the store. The folder also has the certificates (internal/link).
package discovery

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Names in the environment of the processes of a platform.
const (
	EnvDir     = "GRIDRPC_DIR"       // its folder
	EnvOwn     = "GRIDRPC_IDENTITY"  // folder of the identity of a process on a machine that does not see the platform's
	EnvName    = "GRIDRPC_NAME"      // of this process
	EnvParent  = "GRIDRPC_PARENT"    // name of the agent above it
	EnvMasters = "GRIDRPC_MASTERS"   // addresses of masters, by commas
	EnvTether  = "GRIDRPC_TETHER"    // set, to a kind: the process ends when its standard input does
	EnvStore   = "GRIDRPC_STORE"     // name of the store of checkpoints
	EnvCall    = "GRIDRPC_CALL"      // socket of the call that started a program
	EnvDetect  = "GRIDRPC_DETECT"    // silence after which agents and servers count as dead
	EnvKnown   = "GRIDRPC_ANCESTORS" // number of ancestors that a process of the tree knows
	EnvObserve = "GRIDRPC_OBSERVERS" // number of ancestors that it observes
	EnvStay    = "GRIDRPC_STAY"      // set: a process that loses its parent searches for no other
	EnvHost    = "GRIDRPC_HOST"      // name of the machine, in place of the real one
	EnvTrace   = "GRIDRPC_TRACE"     // set: agents print the deaths that they find, and when
	EnvListen  = "GRIDRPC_LISTEN"    // name or address at which this process listens; the loopback address if there is none
)

// NameForm is the form of the names of processes, services and states, which become names of files
// and of keys in stores.
var NameForm = regexp.MustCompile(`^[a-z0-9._-]{1,64}$`)

// Errors of clients and servers that several packages return.
var (
	ErrNoMaster    = errors.New("no master could be asked") // no master is known, or none answers
	ErrUnsupported = errors.New("not supported here")
)

// ClientName is the name in the certificate of all clients that see the folder of the platform.
const ClientName = "client"

// Default returns the folder of this user's platform on this machine, or of the identity that
// stands for it.
func Default() string {
	if dir := cmp.Or(os.Getenv(EnvOwn), os.Getenv(EnvDir)); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "gridrpc")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("gridrpc-%d", os.Getuid()))
}

// KnownMax bounds the number of known ancestors, because each list of them is sent down the tree.
const KnownMax = 64

// Ancestors returns the numbers of ancestors that a process of the tree knows and observes, from
// its environment. 0 is the default.
func Ancestors() (known, observed int, err error) {
	for name, n := range map[string]*int{EnvKnown: &known, EnvObserve: &observed} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		if *n, err = strconv.Atoi(text); err != nil || *n < 0 || *n > KnownMax {
			return 0, 0, fmt.Errorf("%s=%s: want 0 to %d", name, text, KnownMax)
		}
	}
	return known, observed, nil
}

// Host returns the name of this machine. Processes with the same host are near each other.
func Host() string {
	if name := os.Getenv(EnvHost); name != "" {
		return name
	}
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// loopback is the address of processes of a platform on one machine.
const loopback = "127.0.0.1"

// ListenAt returns the address at which this process listens, with port 0.
func ListenAt() string {
	host := os.Getenv(EnvListen)
	if host == "" {
		host = loopback
	}
	return net.JoinHostPort(host, "0")
}

// ReachedFrom returns the address of this machine that connections to another host use. Processes
// there can reach this machine at it.
func ReachedFrom(host string) (string, error) {
	c, err := net.Dial("udp", net.JoinHostPort(host, "9")) // nothing is sent
	if err != nil {
		return "", fmt.Errorf("%s cannot be reached: %w", host, err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).IP.String(), nil
}

// MastersFile returns the path of the file with the addresses of the masters, one a line.
func MastersFile(dir string) string { return filepath.Join(dir, "masters") }

// Masters returns the addresses of the masters of the platform in folder dir.
func Masters(dir string) ([]string, error) {
	if list := os.Getenv(EnvMasters); list != "" {
		return Split(list), nil
	}
	text, err := os.ReadFile(MastersFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: no platform in %s: start one with \"gridrpc up\", or set %s", ErrNoMaster, dir, EnvDir)
	}
	list := Split(strings.ReplaceAll(string(text), "\n", ","))
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: none is listed in %s", ErrNoMaster, dir)
	}
	return list, err
}

// Split returns the parts of a list by commas.
func Split(list string) []string {
	var parts []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// AddressFile returns the path of the file with the address of an agent.
func AddressFile(dir, name string) string { return filepath.Join(dir, name+".addr") }

// Address returns the address of an agent, or "" if it is not known.
func Address(dir, name string) string {
	text, err := os.ReadFile(AddressFile(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// SaveAddress stores the address of an agent. Readers see either the old address or the new one.
func SaveAddress(dir, name, addr string) error {
	return replace(AddressFile(dir, name), addr+"\n")
}

// Store returns the name of the platform's store of checkpoints; "" is none.
func Store(dir string) (string, error) {
	if name, ok := os.LookupEnv(EnvStore); ok {
		return name, nil
	}
	text, err := os.ReadFile(storeFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSuffix(string(text), "\n"), err
}

// SaveStore stores the name of the store.
func SaveStore(dir, name string) error { return replace(storeFile(dir), name+"\n") }

func storeFile(dir string) string { return filepath.Join(dir, "store.name") }

// SaveMasters stores the addresses of the masters.
func SaveMasters(dir string, addrs ...string) error {
	return replace(MastersFile(dir), strings.Join(addrs, "\n")+"\n")
}

func replace(path, text string) error {
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(fresh, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
