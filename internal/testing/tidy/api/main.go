// Api compares the exported names of the published packages with the lists in the folder api:
//
//	go run ./internal/testing/tidy/api            prints each difference that CHANGELOG.md does not name; exit code 1 if any
//	go run ./internal/testing/tidy/api -update    writes the lists, unless there is such a difference
//
// The lists are those of the last version. They are written when a version is made.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goulfm/goulfm/internal/testing/tidy"
)

func main() {
	root := flag.String("root", ".", "the checkout to read")
	update := flag.Bool("update", false, "write the lists")
	flag.Parse()
	tree, err := tidy.Load(os.DirFS(*root))
	if err != nil {
		fail(err)
	}
	found, err := tidy.API(tree)
	if err != nil {
		fail(err)
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
	if !*update {
		return
	}
	for path, text := range tidy.APILists(tree) {
		if err := os.WriteFile(filepath.Join(*root, path), []byte(text), 0o666); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "api:", err)
	os.Exit(2)
}
