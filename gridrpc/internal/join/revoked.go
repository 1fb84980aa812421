package join

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/token"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// How often a process looks who was revoked: into the book, or by a question to a master.
const (
	lookEach = time.Second
	askEach  = 2 * time.Second
)

// Revoked lists who has come by a token that was revoked.
func (d *Desk) Revoked(context.Context, *pb.RevokedRequest) (*pb.RevokedReply, error) {
	book, err := Read(d.Dir)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	reply := &pb.RevokedReply{}
	for _, key := range book.Revoked(mono.Time(d.Now().UnixNano())) {
		reply.Keys = append(reply.Keys, key[:])
	}
	return reply, nil
}

// ShunRevoked has a process that sees the folder of the platform have nothing to do with who was
// revoked, until ctx is done: it looks into the book.
func ShunRevoked(ctx context.Context, dir string, id *link.Identity, say func(text string)) {
	var last fs.FileInfo
	shun(ctx, lookEach, id, say, func(context.Context) ([]token.Hash, error) {
		now, err := os.Stat(bookFile(dir))
		if err != nil || last != nil && os.SameFile(now, last) && now.ModTime().Equal(last.ModTime()) && now.Size() == last.Size() {
			return nil, errSame
		}
		book, err := Read(dir)
		if err != nil {
			return nil, err
		}
		last = now
		return book.Revoked(mono.Time(time.Now().UnixNano())), nil
	})
}

// ShunRevokedFar does so in a process that does not see it: a master is asked. dir is that of its
// identity.
func ShunRevokedFar(ctx context.Context, dir string, id *link.Identity, say func(text string)) {
	var conn *grpc.ClientConn // to the master that has answered last
	defer func() {
		if conn != nil {
			link.HangUp(conn)
		}
	}()
	shun(ctx, askEach, id, say, func(ctx context.Context) ([]token.Hash, error) {
		if conn != nil {
			if keys, err := askRevoked(ctx, conn); err == nil {
				return keys, nil
			}
			link.HangUp(conn)
			conn = nil
		}
		masters, err := discovery.Masters(dir)
		for _, addr := range masters {
			var next *grpc.ClientConn
			if next, err = id.Dial(addr, link.Master); err != nil {
				continue
			}
			var keys []token.Hash
			if keys, err = askRevoked(ctx, next); err == nil {
				conn = next
				return keys, nil
			}
			link.HangUp(next)
		}
		return nil, err
	})
}

// errSame says that nothing has changed.
var errSame = errors.New("the book is the same")

// shun looks again and again who was revoked. Where that cannot be known what was known last holds.
func shun(ctx context.Context, each time.Duration, id *link.Identity, say func(text string), look func(context.Context) ([]token.Hash, error)) {
	tick := time.NewTicker(each)
	defer tick.Stop()
	for ctx.Err() == nil {
		if keys, err := look(ctx); err == nil {
			if closed := id.Revoke(keys); len(closed) > 0 {
				slices.Sort(closed)
				say("has cut off " + strings.Join(closed, ", ") + ", whose token was revoked")
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// askRevoked asks a master.
func askRevoked(ctx context.Context, conn *grpc.ClientConn) (keys []token.Hash, err error) {
	ctx, cancel := context.WithTimeout(ctx, askEach)
	defer cancel()
	reply, err := pb.NewEnrollmentClient(conn).Revoked(ctx, &pb.RevokedRequest{})
	for _, key := range reply.GetKeys() {
		if len(key) == len(token.Hash{}) {
			keys = append(keys, token.Hash(key))
		}
	}
	return keys, err
}
