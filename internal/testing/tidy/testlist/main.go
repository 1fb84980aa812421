// Testlist prints the tests of the repository, a package and a name on each line:
//
//	go run ./internal/testing/tidy/testlist          all tests, of all modules
//	go run ./internal/testing/tidy/testlist -long    tests that run in full only with GOULFM_LONG=1
//	go run ./internal/testing/tidy/testlist -lost    tests that the sources have lost
//
// A test is lost if the stored list has this test and the sources lack it. With -lost the exit code
// is 1 if any test is lost. Testlist reads sources and compiles nothing.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/goulfm/goulfm/internal/testing/tidy"
)

func main() {
	root := flag.String("root", ".", "the checkout to read")
	long := flag.Bool("long", false, "print the long tests alone")
	lost := flag.Bool("lost", false, "compare with the stored list")
	flag.Parse()
	tree, err := tidy.Load(os.DirFS(*root))
	if err != nil {
		fail(err)
	}
	if *lost {
		found, err := tidy.LostTests(tree)
		if err != nil {
			fail(err)
		}
		for _, f := range found {
			fmt.Println(f)
		}
		if len(found) > 0 {
			os.Exit(1)
		}
		return
	}
	for _, f := range tidy.Tests(tree) {
		if f.Long || !*long {
			fmt.Println(f)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "testlist:", err)
	os.Exit(2)
}
