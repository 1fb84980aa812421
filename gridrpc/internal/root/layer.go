package root

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/hashicorp/raft"
)

// layer is connections between masters.
type layer struct {
	net.Listener
	tls *tls.Config
}

// newLayer returns the layer at a listener; without config the connections are plain.
func newLayer(l net.Listener, config *tls.Config) layer {
	if config != nil {
		l = tls.NewListener(l, config)
	}
	return layer{Listener: l, tls: config}
}

// Dial connects to another master.
func (l layer) Dial(addr raft.ServerAddress, within time.Duration) (net.Conn, error) {
	d := &net.Dialer{Timeout: within}
	if l.tls == nil {
		return d.Dial("tcp", string(addr))
	}
	return tls.DialWithDialer(d, "tcp", string(addr), l.tls)
}
