package root

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/hashicorp/raft"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// layer makes and accepts the connections between masters.
type layer struct {
	net.Listener
	tls *tls.Config
}

// newLayer returns the layer at an address; without config the connections are plain.
func newLayer(addr string, config *tls.Config) (layer, error) {
	if config == nil {
		l, err := net.Listen("tcp", addr)
		return layer{Listener: l}, err
	}
	l, err := link.ListenTLS(addr, config)
	return layer{Listener: l, tls: config}, err
}

// Dial connects to another master.
func (l layer) Dial(addr raft.ServerAddress, within time.Duration) (net.Conn, error) {
	d := &net.Dialer{Timeout: within}
	if l.tls == nil {
		return d.Dial("tcp", string(addr))
	}
	return tls.DialWithDialer(d, "tcp", string(addr), l.tls)
}
