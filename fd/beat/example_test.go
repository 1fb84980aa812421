package beat_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/fd/beat"
)

// monitored is the program of the process in Example: it is introduced by its standard input and
// output, and sends heartbeats until its end.
func monitored() error {
	e, err := beat.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	var stream uint32
	var text string
	if _, err := fmt.Scan(&stream, &text); err != nil {
		return err
	}
	key, err := hex.DecodeString(text)
	if err != nil {
		return err
	}
	if _, err := e.Accept(stream, key, nil); err != nil {
		return err
	}
	fmt.Println(e.Addr())
	_, err = io.Copy(io.Discard, os.Stdin) // until the other process has ended
	return err
}

// start starts that program, with its standard input and output.
func start() (process *exec.Cmd, in io.WriteCloser, out *bufio.Reader, err error) {
	process = exec.Command(os.Args[0])
	process.Env = append(os.Environ(), variable+"=1")
	process.Stderr = os.Stderr
	pipe, err := process.StdoutPipe()
	if err == nil {
		in, err = process.StdinPipe()
	}
	if err == nil {
		err = process.Start()
	}
	return process, in, bufio.NewReader(pipe), err
}

// variable makes the test program the monitored process.
const variable = "GOULFM_BEAT_MONITORED"

func TestMain(m *testing.M) {
	if os.Getenv(variable) == "" {
		os.Exit(m.Run())
	}
	if err := monitored(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A process monitors another one over the loopback interface. They are introduced through pipes.
// The monitored process is killed, and declared dead within two seconds.
func Example() {
	process, in, out, err := start()
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := beat.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	events := make(chan beat.Event, 100)
	m, err := e.Monitor(adaptive.QoS{Detection: 2 * adaptive.Second}, func(ev beat.Event) { events <- ev })
	if err != nil {
		fmt.Println(err)
		return
	}
	stream, key := m.NextStream(), beat.NewKey()
	fmt.Fprintln(in, stream, hex.EncodeToString(key))
	line, _ := out.ReadString('\n')
	addr, err := netip.ParseAddrPort(strings.TrimSpace(line))
	if err == nil {
		err = m.Connected(beat.Connection{Stream: stream, Addr: addr, Key: key})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev := range events {
		switch ev.Kind {
		case beat.Reached:
			fmt.Println(ev.Kind)
			_ = process.Process.Kill()
			_ = process.Wait()
		case beat.Dead:
			fmt.Println(ev.Kind, "by", ev.Evidence)
			return
		}
	}
	// Output:
	// reached
	// dead by silence
}

// A quality that is not allowed is an error that names the value and the range.
func ExampleEndpoint_Monitor() {
	e, err := beat.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	_, err = e.Monitor(adaptive.QoS{Detection: adaptive.Millisecond}, func(beat.Event) {})
	fmt.Println(err)
	// Output: quality of detection: detection within 1ms, want 200ms to 86400s
}

// A service reports the state of its own connection to the monitor of a peer: the connection
// breaks, the peer answers on another one, and later its machine refuses a connection.
func ExampleMonitor_Refused() {
	e, err := beat.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	events := make(chan beat.Event, 100)
	m, err := e.Monitor(adaptive.QoS{}, func(ev beat.Event) { events <- ev })
	if err == nil {
		err = m.Connected(beat.Connection{Stream: m.NextStream(), Key: beat.NewKey()})
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	m.Broken()
	fmt.Println((<-events).Kind, m.Stats().Suspected)
	m.Answered(time.Millisecond)
	fmt.Println((<-events).Kind, m.Stats().Network.RTT)
	m.Refused()
	ev := <-events
	fmt.Println(ev.Kind, "by", ev.Evidence)
	// Output:
	// suspected true
	// trusted 1ms
	// dead by refusal
}

// link is one direction of a connection between two processes.
type link chan []byte

// send does not block: a full connection loses the message.
func (l link) send(sealed []byte) {
	select {
	case l <- bytes.Clone(sealed):
	default:
	}
}

// A firewall drops all datagrams. The monitor notices this, and the heartbeats use the connection
// of the two processes.
func ExampleMonitor_Receive() {
	client, errA := beat.Listen("127.0.0.1:0")
	server, errB := beat.Listen("127.0.0.1:0")
	if err := errors.Join(errA, errB); err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	defer server.Close()
	events, toServer, toClient := make(chan beat.Event, 100), make(link, 100), make(link, 100)
	m, err := client.Monitor(adaptive.QoS{Detection: 2 * adaptive.Second}, func(ev beat.Event) { events <- ev })
	if err != nil {
		fmt.Println(err)
		return
	}
	stream, key := m.NextStream(), beat.NewKey()
	s, err := server.Accept(stream, key, toClient.send)
	if err == nil { // without an address: no datagram is sent
		err = m.Connected(beat.Connection{Stream: stream, Key: key, Link: toServer.send})
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println((<-events).Text)
	s.Receive(<-toServer)         // the monitor requests heartbeats
	m.Receive(stream, <-toClient) // its request is answered
	m.Receive(stream, <-toClient) // the first heartbeat
	fmt.Println(server.Senders(), "sender, suspected:", m.Stats().Suspected)
	m.Close()
	// Output:
	// 3 datagrams without an answer: its beats go by the connection
	// 1 sender, suspected: false
}

// Both processes keep their connection until a heartbeat has arrived as a datagram, and close it
// then. The heartbeats continue.
func ExampleMonitor_Detach() {
	client, errA := beat.Listen("127.0.0.1:0")
	server, errB := beat.Listen("127.0.0.1:0")
	if err := errors.Join(errA, errB); err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	defer server.Close()
	events, toServer, toClient := make(chan beat.Event, 100), make(link, 100), make(link, 100)
	m, err := client.Monitor(adaptive.QoS{}, func(ev beat.Event) { events <- ev })
	if err != nil {
		fmt.Println(err)
		return
	}
	stream, key := m.NextStream(), beat.NewKey()
	s, err := server.Accept(stream, key, toClient.send)
	if err == nil {
		err = m.Connected(beat.Connection{Stream: stream, Addr: server.Addr(), Key: key, Link: toServer.send})
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println((<-events).Kind)
	m.Detach(stream)
	s.Detach()
	fmt.Println(server.Senders(), "sender, suspected:", m.Stats().Suspected)
	s.Close() // the server serves this client no more
	fmt.Println(server.Senders(), "senders")
	// Output:
	// reached
	// 1 sender, suspected: false
	// 0 senders
}
