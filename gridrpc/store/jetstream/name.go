package jetstream

import (
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// Scheme begins the names of these stores.
const Scheme = "jetstream://"

// defaultStream is the stream of names without one.
const defaultStream = "checkpoints"

var streamForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Name returns the name of the store at these servers, each HOST:PORT.
func Name(servers []string) string { return Scheme + strings.Join(servers, ",") }

// Parse reads the name of a store.
func Parse(name string) (servers []string, stream string, err error) {
	rest, ok := strings.CutPrefix(name, Scheme)
	list, stream, named := strings.Cut(rest, "/")
	if !named {
		stream = defaultStream
	}
	servers = strings.Split(list, ",")
	for _, addr := range servers {
		host, port, err := net.SplitHostPort(addr)
		ok = ok && err == nil && host != "" && port != "" && !strings.ContainsAny(host, "/@?# ") && strings.Trim(port, "0123456789") == ""
	}
	if !ok || !streamForm.MatchString(stream) {
		return nil, "", fmt.Errorf("store %q: want %sHOST:PORT,... or %sHOST:PORT,.../STREAM", name, Scheme, Scheme)
	}
	return servers, stream, nil
}

// Keys and the ends of subjects. A key is parts of letters, digits and ".", "_", "-".
var (
	toSubject   = strings.NewReplacer("/", ".", ".", "=")
	fromSubject = strings.NewReplacer(".", "/", "=", ".")
)

// subjects are the subjects of a stream.
type subjects struct{ name string }

func (s subjects) file(key string) string { return s.name + ".file." + toSubject.Replace(key) }

// key returns the key of a file's subject.
func (s subjects) key(subject string) (string, bool) {
	rest, ok := strings.CutPrefix(subject, s.name+".file.")
	key := fromSubject.Replace(rest)
	return key, ok && checkpoint.CheckKey(key) == nil && s.file(key) == subject
}

// below returns the subjects of all files whose keys can begin with prefix; ok is false if none
// can.
func (s subjects) below(prefix string) (filter string, ok bool) {
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	if folder == "" {
		return s.name + ".file.>", true
	}
	folder = strings.TrimSuffix(folder, "/")
	return s.file(folder) + ".>", checkpoint.CheckKey(folder) == nil
}

func (s subjects) piece(id string, n int64) string {
	return fmt.Sprintf("%s.piece.%s.%d", s.name, id, n)
}

// idOf returns the id of a piece's subject.
func (s subjects) idOf(subject string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(subject, s.name+".piece.")
	id, _, cut := strings.Cut(rest, ".")
	return id, ok && cut
}

func (s subjects) pieces(id string) string { return fmt.Sprintf("%s.piece.%s.*", s.name, id) }
