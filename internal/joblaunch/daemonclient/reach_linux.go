package daemonclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goulfm/goulfm/internal/net/socket"
)

// Reach finds which hosts cannot connect to each other, before a job needs it. This machine starts
// a peer on each host. A peer connects to this machine as a daemon does, listens at the address of
// this connection, and then dials all other peers:
//
//	this machine                              peer
//	listens                                   dials this machine
//	                        <- at ADDR        listens at ADDR
//	dial NAME ADDR ...      ->
//	                        <- no NAME WHY    for each peer that it does not reach
//	                        <- done
//	end of its input        ->                ends

// dialFor limits a dial. The limit detects a firewall that drops packets.
const dialFor = 4 * time.Second

// A Blocked is a direction in which a host cannot connect to another host; To empty: to this
// machine.
type Blocked struct{ From, To, Addr, Why string }

// A ReachHost is a host, and the way to start a command there.
type ReachHost struct {
	Name string
	Way  Remote
}

// peer is a host with a running peer.
type peer struct {
	name, addr string
	in         io.WriteCloser
	out        *bufio.Scanner
	cmd        *exec.Cmd
	no         []Blocked
	err        error
}

// Reach returns the directions in which hosts cannot connect. The error names a host on which a
// peer could not be started.
func Reach(ctx context.Context, hosts []ReachHost) ([]Blocked, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	go discard(l)
	addrs, err := addrsOf(l.Addr().(*net.TCPAddr).Port)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	peers := make([]*peer, len(hosts))
	for i, h := range hosts {
		peers[i] = startPeer(ctx, h, addrs)
	}
	defer func() {
		for _, p := range peers {
			p.end()
		}
	}()
	each(peers, (*peer).awaitAddr)
	each(peers, func(p *peer) { p.dialAll(peers) })
	var blocked []Blocked
	for _, p := range peers {
		blocked = append(blocked, p.no...)
		err = errors.Join(err, p.err)
	}
	return blocked, err
}

func each(peers []*peer, do func(*peer)) {
	var all sync.WaitGroup
	for _, p := range peers {
		all.Go(func() { do(p) })
	}
	all.Wait()
}

// discard accepts connections, of which nothing is read.
func discard(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		conn.Close()
	}
}

// addrsOf returns the addresses of this machine with a port.
func addrsOf(port int) (addrs []string, err error) {
	ips, err := socket.OwnAddresses()
	for _, ip := range ips {
		addrs = append(addrs, net.JoinHostPort(ip.String(), strconv.Itoa(port)))
	}
	return addrs, err
}

func startPeer(ctx context.Context, h ReachHost, addrs []string) *peer {
	args := h.Way.command(h.Way.Users[0], h.Name, "doctor --peer "+strings.Join(addrs, ","))
	p := &peer{name: h.Name, cmd: exec.CommandContext(ctx, args[0], args[1:]...)}
	p.cmd.WaitDelay = endFor
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.err = fmt.Errorf("host %s: %w", h.Name, err)
		return p
	}
	p.out = bufio.NewScanner(out)
	return p
}

// awaitAddr reads the address of a peer, or the error of its connection to this machine.
func (p *peer) awaitAddr() {
	if p.err != nil {
		return
	}
	if p.out.Scan() {
		word, rest, _ := strings.Cut(p.out.Text(), " ")
		switch word {
		case "at":
			p.addr = rest
			return
		case "no":
			p.no = append(p.no, Blocked{From: p.name, Why: rest})
			return
		}
	}
	p.err = fmt.Errorf("host %s: no answer of goulfm doctor", p.name)
}

// dialAll has a peer dial all others, and reads the outcome.
func (p *peer) dialAll(peers []*peer) {
	if p.addr == "" {
		return
	}
	var list strings.Builder
	addrs := map[string]string{}
	for _, other := range peers {
		if other != p && other.addr != "" {
			fmt.Fprintf(&list, "dial %s %s\n", other.name, other.addr)
			addrs[other.name] = other.addr
		}
	}
	list.WriteString("all\n")
	if _, err := io.WriteString(p.in, list.String()); err != nil {
		p.err = fmt.Errorf("host %s: %w", p.name, err)
		return
	}
	for p.out.Scan() {
		words := strings.SplitN(p.out.Text(), " ", 3)
		switch {
		case words[0] == "done":
			return
		case words[0] == "no" && len(words) == 3:
			p.no = append(p.no, Blocked{p.name, words[1], addrs[words[1]], words[2]})
		}
	}
	p.err = fmt.Errorf("host %s: goulfm doctor has ended there", p.name)
}

func (p *peer) end() {
	if p.out != nil {
		_ = p.in.Close() // its end ends the peer
		_ = p.cmd.Wait()
	}
}

// RunPeer is the peer of Reach on a host. Addrs are addresses of the machine that asks.
func RunPeer(ctx context.Context, in io.Reader, out io.Writer, addrs []string) {
	ip, err := ownAddress(ctx, addrs)
	if err != nil {
		fmt.Fprintf(out, "no %v\n", err)
		return
	}
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: ip})
	if err != nil {
		fmt.Fprintf(out, "no %v\n", err)
		return
	}
	defer func() { _ = l.Close() }()
	go discard(l)
	fmt.Fprintf(out, "at %s\n", l.Addr())
	var dials sync.WaitGroup
	var mu sync.Mutex
	for lines := bufio.NewScanner(in); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 3 && words[0] == "dial":
			dials.Go(func() {
				if _, err := dial(ctx, words[2]); err != nil {
					mu.Lock()
					defer mu.Unlock()
					fmt.Fprintf(out, "no %s %v\n", words[1], err)
				}
			})
		case len(words) == 1 && words[0] == "all":
			dials.Wait()
			fmt.Fprintln(out, "done")
		}
	}
}

// ownAddress returns the address of this host in a connection to one of addrs.
func ownAddress(ctx context.Context, addrs []string) (ip net.IP, err error) {
	for _, addr := range addrs {
		own, why := dial(ctx, addr)
		if why == nil {
			return own, nil
		}
		err = errors.Join(err, fmt.Errorf("%s: %w", addr, why))
	}
	return nil, errors.New(strings.ReplaceAll(fmt.Sprint(err), "\n", ", "))
}

// dial connects to an address and returns the own address of the connection. An error is in words
// for a person.
func dial(ctx context.Context, addr string) (net.IP, error) {
	conn, err := (&net.Dialer{Timeout: dialFor}).DialContext(ctx, "tcp", addr)
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return nil, fmt.Errorf("no answer within %s", dialFor)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return nil, op.Err
	}
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.TCPAddr).IP, nil
}
