package tidy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// textMax is the size in bytes above which a file is taken for data.
const textMax = 1 << 20

// unwanted are the texts that no line of the repository may hold. The patterns do not
// match themselves.
var unwanted = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`\b(TO[D]O|FIX[M]E|XX[X])\b`), "half done: do it or open an issue"},
	{regexp.MustCompile(`(^|[^\w.)\]}/~-])/(?:work|root)(/|[^\w-]|$)`), "a path of one machine"},
	{regexp.MustCompile(`\b(proxy|sum|index)[.]golang[.]org\b|\bgoproxy[.](io|cn)\b|\b(ghcr|gcr|quay|docker)[.]io\b|\b(artifactory|nexus)[.][a-z]`), "the host of a registry"},
	{regexp.MustCompile(`\bGO(PROXY|SUMDB|NOSUMDB|PRIVATE|INSECURE)\s*:?=`), "where modules come from is a user's choice"},
}

// Text checks every line of every text file.
func Text(t *Tree) ([]Finding, error) {
	var found []Finding
	err := fs.WalkDir(t.Files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && notOurText(p):
			return fs.SkipDir
		case !d.Type().IsRegular() || path.Base(p) == "go.sum" || p == ".git": // a file in a second working tree
			return nil
		}
		fs, err := text(t.Files, p)
		found = append(found, fs...)
		return err
	})
	return found, err
}

// notOurText reports whether no text below folder p was written by hand: git's own
// files, built binaries, and inputs that the fuzzer found.
func notOurText(p string) bool {
	return p == ".git" || p == "bin" || strings.HasSuffix(p, "testdata/fuzz")
}

func text(files fs.FS, p string) ([]Finding, error) {
	data, err := fs.ReadFile(files, p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // an editor's file, removed meanwhile
	}
	if err != nil || len(data) > textMax || bytes.IndexByte(data, 0) >= 0 {
		return nil, err
	}
	var found []Finding
	for i, line := range strings.Split(string(data), "\n") {
		for _, u := range unwanted {
			if m := u.pattern.FindString(line); m != "" {
				found = append(found, Finding{fmt.Sprintf("%s:%d", p, i+1), fmt.Sprintf("%q: %s", strings.TrimSpace(m), u.why)})
			}
		}
	}
	return found, nil
}
