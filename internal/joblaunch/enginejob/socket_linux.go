package enginejob

import (
	"io"
	"net"

	"golang.org/x/sys/unix"
)

// Maximum numbers of descriptors with a claim, and with a place. The kernel closes the
// descriptors beyond them, and sends no more than 253.
const (
	claimMost = 2
	placeMost = 253
)

// credOf returns the process at the other end of a connection: at a listener's, the one that
// listens.
func credOf(conn *net.UnixConn) (cred *unix.Ucred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return nil, err
	}
	return cred, failed
}

// send writes a message, with descriptors.
func send(conn *net.UnixConn, message any, fds ...int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	b := encode(message)
	n, _, err := conn.WriteMsgUnix(b, rights, nil)
	if err == nil && n < len(b) {
		_, err = conn.Write(b[n:])
	}
	return err
}

// receive reads a message with at most most descriptors, and no byte after it. The caller owns
// the descriptors; after an error there are none.
func receive(conn *net.UnixConn, most int) (body []byte, fds []int, err error) {
	var prefix [prefixBytes]byte
	oob := make([]byte, unix.CmsgSpace(4*most))
	n, oobn, _, _, err := conn.ReadMsgUnix(prefix[:], oob)
	fds = descriptorsOf(oob[:oobn])
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err == nil && n < len(prefix) {
		_, err = io.ReadFull(conn, prefix[n:])
	}
	if err == nil {
		body, err = receiveBody(conn, prefix)
	}
	if err != nil {
		closeAll(fds)
		return nil, nil, err
	}
	return body, fds, nil
}

func receiveBody(conn *net.UnixConn, prefix [prefixBytes]byte) ([]byte, error) {
	n, err := lengthOf(prefix)
	if err != nil {
		return nil, err
	}
	body := make([]byte, n)
	_, err = io.ReadFull(conn, body)
	return body, err
}

// descriptorsOf returns the descriptors of a message. net sets close-on-exec.
func descriptorsOf(oob []byte) (fds []int) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range messages {
		if some, err := unix.ParseUnixRights(&messages[i]); err == nil {
			fds = append(fds, some...)
		}
	}
	return fds
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
