package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	plain "github.com/nats-io/nats.go/jetstream"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/store/jetstream"
)

// Sizes of the measured checkpoint.
const (
	fileBytes   = 64 << 20
	pieceBytes  = 1 << 20
	outstanding = 16
	stallWithin = time.Minute
)

// measureStore measures the platform's own store beside messages of the same length to the same
// servers.
func measureStore(ctx context.Context, p plan) ([]row, error) {
	s, err := open(ctx, 1, nil, "--tree", "1x1", "--no-restart", "--store", "jetstream")
	if err != nil {
		return nil, err
	}
	defer s.end()
	name, err := discovery.Store(s.Dir)
	if err != nil {
		return nil, err
	}
	store, err := jetstream.Open(ctx, name, s.id.TLS(link.Store))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	js, end, err := s.messages(ctx, name)
	if err != nil {
		return nil, err
	}
	defer end()
	data := bytes.Repeat([]byte("checkpoint"), fileBytes/10)
	perSecond := func(put func() error) func() (float64, error) {
		return func() (float64, error) {
			begun := time.Now()
			err := put()
			return float64(len(data)) / time.Since(begun).Seconds() / 1e6, err
		}
	}
	a, b, ratio, err := inTurns(p.turns,
		perSecond(func() error { return store.Put(ctx, "measured", int64(len(data)), bytes.NewReader(data)) }),
		perSecond(func() error { return publish(ctx, js, data) }))
	return []row{{"a checkpoint of 64 MB, 3 copies, synced", fmt.Sprintf("%.0f MB/s", a), fmt.Sprintf("%.0f MB/s", b), times(ratio), "0.8 times"}}, err
}

// messages returns a plain client of the servers of a store, with a stream like that of the store.
func (s *scene) messages(ctx context.Context, name string) (plain.JetStream, func(), error) {
	servers, _, err := jetstream.Parse(name)
	if err != nil {
		return nil, nil, err
	}
	conn, err := nats.Connect("nats://"+strings.Join(servers, ",nats://"), nats.Secure(s.id.TLS(link.Store)))
	if err != nil {
		return nil, nil, err
	}
	js, err := plain.New(conn, plain.WithPublishAsyncMaxPending(outstanding))
	if err == nil {
		_, err = js.CreateStream(ctx, plain.StreamConfig{Name: "plain", Subjects: []string{"plain.>"}, Storage: plain.FileStorage, Replicas: 3, MaxMsgsPerSubject: 1})
	}
	return js, conn.Close, err
}

// publish sends data as messages, and waits until all are acknowledged.
func publish(ctx context.Context, js plain.JetStream, data []byte) error {
	var acks []plain.PubAckFuture
	for n := 0; len(data) > 0; n++ {
		piece := data[:min(len(data), pieceBytes)]
		data = data[len(piece):]
		ack, err := js.PublishAsync(fmt.Sprintf("plain.%d", n), piece, plain.WithStallWait(stallWithin))
		if err != nil {
			return err
		}
		acks = append(acks, ack)
	}
	for _, a := range acks {
		select {
		case <-a.Ok():
		case err := <-a.Err():
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
