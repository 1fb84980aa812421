package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"os"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Variable is the environment variable with the path of the socket at which a job serves watchers.
const Variable = "GOULFM_WATCH"

var (
	// ErrNoJob means that no launcher serves watchers here.
	ErrNoJob = errors.New("no job to watch")
	// ErrRefused means that the job does not serve this program, for the reason in the text.
	ErrRefused = errors.New("refused by the job")
	// ErrBehind means that this program has left 1,024 events unread, and gets no more. Open begins
	// anew, with a snapshot.
	ErrBehind = errors.New("too far behind")
	// ErrGone means that the launcher was killed: the socket was closed without a last message. Its
	// ranks end, too.
	ErrGone = errors.New("the launcher of the job is gone")
)

// answerMax is how long the launcher may take to answer.
const answerMax = 10 * time.Second

// A Watcher follows which members of a job are alive. Its methods may be called from any goroutine,
// but the iterators that Events returns from one at a time.
type Watcher struct {
	ctx    context.Context // of Open: bounds the life of the Watcher
	path   string
	conn   net.Conn
	lines  *bufio.Scanner
	first  *Event // read by Open, not given yet
	isOver bool   // there is nothing more to read
	closed atomic.Bool
	stop   func() bool // has ctx not close conn any more
}

// Open begins to watch the job that GOULFM_WATCH names. The variable is set in processes that
// goulfm run --watch started, and in their children. No event after Open is missed. The Watcher
// lives until Close, or until ctx is done.
//
// Without such a job the error Is ErrNoJob; ErrRefused is of a job of another version or user.
func Open(ctx context.Context) (*Watcher, error) {
	path := os.Getenv(Variable)
	if path == "" {
		return nil, fmt.Errorf("watch: %w: %s is not set: start the job with goulfm run --watch, and this program from one of its processes, or with the variable as the launcher tells it", ErrNoJob, Variable)
	}
	return OpenAt(ctx, path)
}

// OpenAt is Open for the job with its socket at path.
func OpenAt(ctx context.Context, path string) (*Watcher, error) {
	conn, err := ask(ctx, path, request{Version: version, What: "watch"})
	if err != nil {
		return nil, err
	}
	w := &Watcher{ctx: ctx, path: path, conn: conn, lines: scan(conn)}
	w.stop = context.AfterFunc(ctx, func() { conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(answerMax))
	e, err := w.read()
	if err != nil {
		_ = w.Close()
		return nil, err
	}
	w.first = &e
	_ = conn.SetReadDeadline(time.Time{})
	return w, nil
}

// Events returns an iterator over all events, each once, in order: first a Present for each member
// that is there (and a Frozen for each node that stands still), then Complete, then the later
// events. The iteration ends after Over, after Close, and after an error: ErrBehind, ErrGone, or
// that of the context. After a break, another call of Events continues with the next event.
func (w *Watcher) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for !w.isOver {
			e, err := w.next()
			w.isOver = err != nil || e.What == Over
			if errors.Is(err, io.EOF) || !yield(e, err) {
				return
			}
		}
	}
}

// next returns the next event; io.EOF after Close.
func (w *Watcher) next() (Event, error) {
	if w.first != nil {
		e := *w.first
		w.first = nil
		return e, nil
	}
	return w.read()
}

// read reads a line; io.EOF after Close.
func (w *Watcher) read() (Event, error) {
	e, err := read(w.lines)
	switch {
	case err == nil:
		return e, nil
	case w.ctx.Err() != nil:
		return Event{}, fmt.Errorf("watch: %w", context.Cause(w.ctx))
	case w.closed.Load():
		return Event{}, io.EOF
	}
	return Event{}, err
}

// Register asks the launcher to watch this process, too, until its end: all watchers of the job
// receive Joined for the name, and then Died or Left. The name has 1 to 100 printable bytes, and no
// other live member may have the same name. The registration outlives the Watcher.
//
// ErrRefused states the fault of the name; the error Is ErrNoJob if the job is over.
func (w *Watcher) Register(name string) error {
	if !utf8.ValidString(name) { // JSON would replace bytes of the name
		return fmt.Errorf("watch: %w: name %q is no UTF-8", ErrRefused, name)
	}
	conn, err := ask(w.ctx, w.path, request{Version: version, What: "register", Name: name})
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(answerMax))
	switch e, err := read(scan(conn)); {
	case err != nil:
		return err
	case e.What != registered:
		return fmt.Errorf("watch: register %q: the answer of the job is %q", name, e.What)
	}
	return nil
}

// Close ends the Watcher and the iteration of its events. A registered process stays watched.
func (w *Watcher) Close() error {
	w.closed.Store(true)
	w.stop()
	return w.conn.Close()
}

// A request is the only message of a program.
type request struct {
	Version int    `json:"v"`
	What    string `json:"what"`
	Name    string `json:"name,omitempty"`
}

// ask connects to a job and sends a request.
func ask(ctx context.Context, path string, r request) (net.Conn, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: answerMax}
	conn, err := dialer.DialContext(ctx, "unix", path)
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w: permission denied: the job belongs to %s", ErrRefused, ownerOf(path))
	default:
		err = fmt.Errorf("%w: %w: the job is over, or its launcher runs on another machine than this program", ErrNoJob, err)
	}
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	_ = conn.SetWriteDeadline(time.Now().Add(answerMax))
	_, _ = conn.Write(append(line, '\n')) // on an error the launcher may have sent the reason
	return conn, nil
}

func scan(conn net.Conn) *bufio.Scanner {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, lineMax)
	lines.Split(splitLines)
	return lines
}

// splitLines splits at newlines. A rest without a newline comes from a launcher that was killed
// during a write, and is dropped.
func splitLines(data []byte, _ bool) (int, []byte, error) {
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		return end + 1, data[:end], nil
	}
	return 0, nil, nil
}

// read reads a line that is no refusal.
func read(lines *bufio.Scanner) (Event, error) {
	if !lines.Scan() {
		switch err := lines.Err(); {
		case err == nil:
			return Event{}, fmt.Errorf("watch: %w", ErrGone)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return Event{}, fmt.Errorf("watch: no answer within %s: does the launcher stand still?", answerMax)
		default:
			return Event{}, fmt.Errorf("watch: %w: %w", ErrGone, err)
		}
	}
	e, err := parse(lines.Bytes())
	switch {
	case err != nil:
		return Event{}, err
	case e.What == refused:
		return Event{}, fmt.Errorf("watch: %w: %s", ErrRefused, e.Evidence)
	case e.What == cut:
		return Event{}, fmt.Errorf("watch: %w: %s", ErrBehind, e.Evidence)
	}
	return e, nil
}
