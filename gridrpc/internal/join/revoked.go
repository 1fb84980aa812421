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

// Intervals between two checks for revoked members: in the book, and by a request to a master.
const (
	lookEach = time.Second
	askEach  = 2 * time.Second
)

// Revoked lists the members that revoked tokens admitted.
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

// ShunRevoked keeps the connections of a process closed to revoked members, until ctx is done. The
// process must see the folder of the platform: ShunRevoked reads the book.
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

// ShunRevokedFar is ShunRevoked for a process that does not see the folder: it asks a master. dir
// is the folder of its identity.
func ShunRevokedFar(ctx context.Context, dir string, id *link.Identity, say func(text string)) {
	var conn *grpc.ClientConn // to the master that answered last
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

// errSame reports that the book has not changed.
var errSame = errors.New("the book is the same")

// shun checks repeatedly for revoked members. If a check fails, the last known list stays valid.
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

// askRevoked requests the list from a master.
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
