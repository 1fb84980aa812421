package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// socket serves the programs that a body starts: they request checkpoints.
type socket struct {
	dir      string
	listener net.Listener
}

// socketPathMax is how long the path of a socket may be, on every system.
const socketPathMax = 103

// Environ returns the environment of a program that the body starts: with it, "gridrpc ckpt
// register FILE" and "gridrpc ckpt notify" are RegisterFile and Notify of this call.
func (c *Call) Environ() ([]string, error) {
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	if c.ckpt.socket == nil {
		if _, err := c.makeDir(); err != nil {
			return nil, err
		}
		base := c.server.workDir() // which the next incarnation of a killed server empties
		if len(base) > socketPathMax-len("/s0123456789/call") {
			base = os.TempDir()
		}
		dir, err := os.MkdirTemp(base, "s")
		if err != nil {
			return nil, c.fail(err)
		}
		l, err := net.Listen("unix", filepath.Join(dir, "call"))
		if err != nil {
			return nil, c.fail(errors.Join(err, os.RemoveAll(dir)))
		}
		c.ckpt.socket = &socket{dir: dir, listener: l}
		go c.serveSocket(l)
	}
	return append(os.Environ(), discovery.EnvCall+"="+c.ckpt.socket.listener.Addr().String()), nil
}

func (s *socket) close() {
	link.HangUp(s.listener)
	os.RemoveAll(s.dir)
}

func (c *Call) serveSocket(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go c.obey(conn)
	}
}

// orderWithin bounds the time in which a program sends its order.
const orderWithin = 10 * time.Second

// obey carries out one order, and answers "ok" and the result, or "error" and the reason.
func (c *Call) obey(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(orderWithin))
	line, err := bufio.NewReader(io.LimitReader(conn, orderMax)).ReadString('\n')
	if err != nil {
		return
	}
	text := "ok"
	o, err := parseOrder(line)
	switch {
	case err != nil:
	case o.register:
		err = c.RegisterFile(o.path, o.options()...)
	case o.progress:
		c.Progress(o.done, o.total, o.path)
	default:
		var m Manifest
		if m, err = c.Notify(context.Background()); err == nil {
			text = "ok " + m.Key
		}
	}
	if err != nil {
		text = "error " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	_, _ = fmt.Fprintln(conn, text)
}

// order is a request of a program.
type order struct {
	register bool // else notify, or progress
	restart  bool
	path     string

	progress    bool // path is its text
	done, total float64
}

func (o order) options() []FileOption {
	if o.restart {
		return []FileOption{AsRestart()}
	}
	return nil
}

// orderMax bounds an order, in bytes.
const orderMax = 8 << 10

// parseOrder reads "register PATH", "restart PATH", "progress DONE TOTAL TEXT" or "notify", with a
// newline.
func parseOrder(line string) (order, error) {
	line, ok := strings.CutSuffix(line, "\n")
	verb, path, _ := strings.Cut(line, " ")
	switch {
	case !ok || len(line) >= orderMax || strings.ContainsAny(line, "\n\x00"):
	case verb == "notify" && line == verb:
		return order{}, nil
	case (verb == "register" || verb == "restart") && path != "":
		return order{register: true, restart: verb == "restart", path: path}, nil
	case verb == "progress":
		return parseProgress(path)
	}
	return order{}, fmt.Errorf("%.40q is no order: register PATH, restart PATH, progress DONE TOTAL TEXT or notify are", line)
}

func parseProgress(rest string) (order, error) {
	words := strings.SplitN(rest, " ", 3)
	o := order{progress: true}
	if len(words) < 3 {
		return order{}, fmt.Errorf("progress %.40q: DONE TOTAL TEXT is required", rest)
	}
	var err, err2 error
	o.done, err = strconv.ParseFloat(words[0], 64)
	o.total, err2 = strconv.ParseFloat(words[1], 64)
	if o.path = words[2]; err != nil || err2 != nil || !(o.done >= 0 && o.total >= 0) {
		return order{}, fmt.Errorf("progress %.40q: want two numbers from 0 up and a text", rest)
	}
	return o, nil
}

// Order sends an order to the call that this program runs for, and returns the answer: "gridrpc
// ckpt" does so.
func Order(ctx context.Context, words ...string) (string, error) {
	path := os.Getenv(discovery.EnvCall)
	if path == "" {
		return "", &gridrpc.Error{Op: "checkpoint", Err: fmt.Errorf("%s is not set: this program was not started by a call", discovery.EnvCall)}
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return "", &gridrpc.Error{Op: "checkpoint", Err: err}
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := fmt.Fprintln(conn, strings.Join(words, " ")); err != nil {
		return "", &gridrpc.Error{Op: "checkpoint", Err: err}
	}
	answer, err := io.ReadAll(io.LimitReader(conn, orderMax))
	text, ok := strings.CutPrefix(strings.TrimSpace(string(answer)), "ok")
	switch {
	case err != nil:
		return "", &gridrpc.Error{Op: "checkpoint", Err: err}
	case !ok:
		return "", &gridrpc.Error{Op: "checkpoint", Err: gridrpc.ErrCheckpoint, Text: strings.TrimPrefix(text, "error ")}
	}
	return strings.TrimSpace(text), nil
}
