// Package replica runs a server of a store of package jetstream: an embedded NATS server with
// JetStream. Three of them, which know each other from the start, have one copy each of all data,
// and write to the disk before they acknowledge.
package replica

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Config configures a replica.
type Config struct {
	Name   string // unique, and the same for all incarnations of the replica
	Dir    string // of its files
	Addr   string // HOST:PORT for clients
	Route  string // HOST:PORT for the other replicas
	Routes []string
	Client *tls.Config       // for clients; nil: without TLS
	Peer   *tls.Config       // for the other replicas; nil: without TLS
	Say    func(text string) // prints an event for a person

	// Shunned lists the keys of revoked clients, as the SHA-256 of their PKIX form in hexadecimal
	// digits. The replica closes the connections of these clients. Client must refuse their new
	// connections. nil: none.
	Shunned func() []string
}

// messageMax bounds the bytes of a message. A message that is read arrives as text, a third longer.
const messageMax = 2 << 20

// Times of a replica.
const (
	handshake = 5 * time.Second
	pingEach  = 2 * time.Second // of connections between replicas: one that is stopped keeps its own
	pingsMax  = 2
	readyIn   = 20 * time.Second
	sweepEach = time.Second
)

// Serve runs a replica until ctx is done.
func Serve(ctx context.Context, c Config) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	s, err := server.NewServer(o)
	if err != nil {
		return fmt.Errorf("replica %s: %w", c.Name, err)
	}
	failed := make(chan string, 1)
	s.SetLogger(teller{say: c.Say, failed: failed}, false, false)
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(readyIn) {
		select {
		case why := <-failed:
			err = errors.New(why)
		default:
			err = fmt.Errorf("the server does not listen after %v", readyIn)
		}
		return fmt.Errorf("replica %s at %s: %w", c.Name, c.Addr, err)
	}
	if c.Shunned == nil {
		<-ctx.Done()
		return nil
	}
	for each := time.NewTicker(sweepEach); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-each.C:
			c.sweep(s)
		}
	}
}

// sweep closes the connections of shunned clients.
func (c Config) sweep(s *server.Server) {
	keys := c.Shunned()
	if len(keys) == 0 {
		return
	}
	list, err := s.Connz(&server.ConnzOptions{Username: true, Limit: s.NumClients() + 1024}) // with certificates, and with clients that connect meanwhile
	if err != nil {
		c.Say(fmt.Sprintf("does not know its connections: %v", err))
		return
	}
	for _, conn := range list.Conns {
		if len(conn.TLSPeerCerts) > 0 && slices.Contains(keys, conn.TLSPeerCerts[0].SubjectPKISha256) {
			_ = s.DisconnectClientByID(conn.Cid) // an error: the client has left meanwhile
		}
	}
}

func (c Config) options() (*server.Options, error) {
	o := &server.Options{
		ServerName: c.Name, NoSigs: true, MaxPayload: messageMax, MaxPending: 64 * messageMax,
		JetStream: true, StoreDir: c.Dir, SyncAlways: true, DisableJetStreamBanner: true,
		TLSTimeout: handshake.Seconds(), TLSConfig: c.Client,
		Cluster: server.ClusterOpts{
			Name: "gridrpc", NoAdvertise: true, TLSTimeout: handshake.Seconds(), TLSConfig: c.Peer,
			PingInterval: pingEach, MaxPingsOut: pingsMax,
		},
	}
	var err error
	if o.Host, o.Port, err = split(c.Addr); err != nil {
		return nil, err
	}
	if o.Cluster.Host, o.Cluster.Port, err = split(c.Route); err != nil {
		return nil, err
	}
	for _, addr := range c.Routes {
		if addr != c.Route {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: addr})
		}
	}
	return o, nil
}

func split(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	return host, port, err
}

// teller logs only the reason why the server cannot run. Other events, such as broken connections
// after the death of a replica, are usual.
type teller struct {
	say    func(string)
	failed chan string
}

// Fatalf stores the reason why the server cannot run.
func (t teller) Fatalf(format string, v ...any) {
	select {
	case t.failed <- fmt.Sprintf(format, v...):
	default:
	}
	t.say(fmt.Sprintf(format, v...))
}

// Errorf, Warnf, Noticef, Debugf and Tracef have no effect.
func (teller) Errorf(string, ...any)  {}
func (teller) Warnf(string, ...any)   {}
func (teller) Noticef(string, ...any) {}
func (teller) Debugf(string, ...any)  {}
func (teller) Tracef(string, ...any)  {}
