package s3_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/goulfm/goulfm/gridrpc/store/s3"
)

func ExampleOpen() {
	backend := s3mem.New() // stands in for the service
	if err := backend.CreateBucket("checkpoints"); err != nil {
		fmt.Println(err)
		return
	}
	service := httptest.NewServer(gofakes3.New(backend).Server())
	defer service.Close()
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": service.URL, "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Println(err)
			return
		}
		defer os.Unsetenv(name)
	}
	ctx := context.Background()
	store, err := s3.Open(ctx, "s3://checkpoints/mine")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := store.Put(ctx, "notes/first", 5, strings.NewReader("hello")); err != nil {
		fmt.Println(err)
		return
	}
	items, err := store.List(ctx, "notes/")
	fmt.Println(items, err)
	// Output: [{notes/first 5}] <nil>
}
