package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// Scheme begins the names of these stores.
const Scheme = "s3://"

// partSize is the size of the parts of a file of unknown or larger length. At most 10,000 parts are
// possible: 156 GiB.
const partSize = 16 << 20

// openWithin bounds the time of Open.
const openWithin = 20 * time.Second

// bucket is a store.
type bucket struct {
	client *minio.Core
	name   string
	prefix string // "", or ends with "/"
}

// Parse reads the name of a store: s3://BUCKET or s3://BUCKET/FOLDER.
func Parse(name string) (bucketName, folder string, err error) {
	rest, ok := strings.CutPrefix(name, Scheme)
	bucketName, folder, hasFolder := strings.Cut(rest, "/")
	folder = strings.TrimSuffix(folder, "/")
	switch {
	case !ok || bucketName == "" || strings.ContainsAny(bucketName, "?#@:"):
		err = fmt.Errorf("store %q: want %sBUCKET or %sBUCKET/FOLDER", name, Scheme, Scheme)
	case hasFolder && folder != "":
		if err = checkpoint.CheckKey(folder); err != nil {
			err = fmt.Errorf("store %q: folder: %w", name, err)
		}
	}
	if err != nil {
		return "", "", err
	}
	return bucketName, folder, nil
}

// Open returns the store of that name, at the service that the environment names. It checks that
// the bucket exists, so that a mistake is found early.
func Open(ctx context.Context, name string) (checkpoint.Store, error) {
	bucketName, folder, err := Parse(name)
	if err != nil {
		return nil, err
	}
	client, where, err := connect()
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	there, err := client.BucketExists(ctx, bucketName)
	if err == nil && !there {
		err = errors.New("there is no such bucket: make it first")
	}
	if err != nil {
		return nil, fmt.Errorf("store %s at %s: %w", name, where, err)
	}
	return New(client, bucketName, folder), nil
}

// connect returns a client of the service that the environment names.
func connect() (client *minio.Client, where string, err error) {
	where = "https://s3.amazonaws.com"
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} { // the second has priority
		if v := os.Getenv(name); v != "" {
			where = v
		}
	}
	u, err := url.Parse(where)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, where, fmt.Errorf("AWS_ENDPOINT_URL is %q: want https://HOST or http://HOST:PORT", where)
	}
	client, err = minio.New(u.Host, &minio.Options{
		Creds:  credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}),
		Secure: u.Scheme == "https",
		Region: os.Getenv("AWS_REGION"),
	})
	return client, where, err
}

// New returns the store of a bucket, or of a folder in it.
func New(client *minio.Client, bucketName, folder string) checkpoint.Store {
	if folder != "" {
		folder += "/"
	}
	return bucket{client: &minio.Core{Client: client}, name: bucketName, prefix: folder}
}

// Put sends a file. A file longer than partSize is sent in parts, which become an object together.
// Only TLS, if used, protects the bytes on the way: not every service accepts signatures of single
// pieces, and readers check sums.
func (b bucket) Put(ctx context.Context, key string, size int64, r io.Reader) error {
	if err := errors.Join(ctx.Err(), checkpoint.CheckKey(key)); err != nil {
		return err
	}
	in := &counted{ctx: ctx, from: r, size: size}
	first, err := io.ReadAll(io.LimitReader(in, partSize+1))
	if err != nil {
		return err
	}
	body, o := io.Reader(bytes.NewReader(first)), minio.PutObjectOptions{PartSize: partSize, NumThreads: 1, DisableContentSha256: true}
	if len(first) <= partSize {
		size = int64(len(first))
	} else {
		body = io.MultiReader(body, in)
	}
	_, err = b.client.Client.PutObject(ctx, b.name, b.prefix+key, body, size, o)
	if in.failed != nil {
		return in.failed
	}
	return b.explain(ctx, key, err)
}

// Get asks for a part of an object.
func (b bucket) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, error) {
	if err := errors.Join(ctx.Err(), checkpoint.CheckKey(key)); err != nil {
		return nil, err
	}
	if n == 0 { // a range cannot be empty
		_, err := b.client.StatObject(ctx, b.name, b.prefix+key, minio.StatObjectOptions{})
		return io.NopCloser(bytes.NewReader(nil)), b.explain(ctx, key, err)
	}
	var o minio.GetObjectOptions
	last := off + n - 1
	if n < 0 || last < off {
		last = math.MaxInt64 - 1
	}
	if off > 0 || n > 0 {
		if err := o.SetRange(off, last); err != nil {
			return nil, fmt.Errorf("s3: %s from %d: %w", key, off, err)
		}
	}
	r, _, _, err := b.client.GetObject(ctx, b.name, b.prefix+key, o)
	if minio.ToErrorResponse(err).Code == minio.InvalidRange { // the object is shorter
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	if err != nil {
		return nil, b.explain(ctx, key, err)
	}
	return r, nil
}

// List asks for all pages.
func (b bucket) List(ctx context.Context, prefix string) ([]checkpoint.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var items []checkpoint.Item
	for o := range b.client.Client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, b.explain(ctx, prefix, o.Err)
		}
		key := strings.TrimPrefix(o.Key, b.prefix)
		if checkpoint.CheckKey(key) == nil {
			items = append(items, checkpoint.Item{Key: key, Size: o.Size})
		}
	}
	slices.SortFunc(items, func(x, y checkpoint.Item) int { return strings.Compare(x.Key, y.Key) })
	return items, ctx.Err()
}

// Delete removes an object.
func (b bucket) Delete(ctx context.Context, key string) error {
	if err := errors.Join(ctx.Err(), checkpoint.CheckKey(key)); err != nil {
		return err
	}
	return b.explain(ctx, key, b.client.RemoveObject(ctx, b.name, b.prefix+key, minio.RemoveObjectOptions{}))
}

// explain adds the subject and the cause to an error of the service.
func (b bucket) explain(ctx context.Context, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case minio.ToErrorResponse(err).Code == minio.NoSuchKey:
		return fmt.Errorf("s3: %s%s in %s: %w", b.prefix, key, b.name, fs.ErrNotExist)
	case isInside(minio.ToErrorResponse(err)):
		return fmt.Errorf("s3: %s%s in %s: the service cannot do it now, and its log says why (fewer of its servers may live than it makes copies): %w", b.prefix, key, b.name, err)
	}
	return fmt.Errorf("s3: %s%s in %s: %w", b.prefix, key, b.name, err)
}

// isInside reports whether an error is a failure of the service, not of the request.
func isInside(e minio.ErrorResponse) bool {
	return e.StatusCode >= http.StatusInternalServerError && e.StatusCode != http.StatusNotImplemented
}
