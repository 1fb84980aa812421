package s3

import (
	"context"

	"github.com/goulfm/goulfm/gridrpc/store"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

func init() {
	store.Register("s3", func(ctx context.Context, name string, _ store.Process) (checkpoint.Store, error) {
		return Open(ctx, name)
	})
}
