package bootauth

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Bounds of a file with a secret, in bytes.
const (
	secretMin     = 16
	secretFileMax = 64 << 10
)

// ReadSecretFile returns the content of the file at path, without white space around it. The file
// must be a regular file that only its owner and group may read or write, with at least 16 bytes.
// An error has the file, the cause and the remedy.
func ReadSecretFile(path string) ([]byte, error) {
	// Check before open: to open a pipe would block until there is a writer.
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("secret file: %w: make it on a file system that all nodes see, or copy it to each", err)
	} else if err = checkSecretFile(path, info); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("secret file: %w: it must be readable by the user who starts the ranks", err)
	}
	defer f.Close()
	info, err := f.Stat() // of the opened file: the path may name another file meanwhile
	if err != nil {
		return nil, fmt.Errorf("secret file: %w", err)
	}
	if err = checkSecretFile(path, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, secretFileMax+1))
	if err != nil {
		return nil, fmt.Errorf("secret file: %w", err)
	}
	return trimSecret(path, text)
}

func checkSecretFile(path string, info os.FileInfo) error {
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return fmt.Errorf("secret file %s: not a regular file: name one", path)
	case mode.Perm()&0o006 != 0:
		return fmt.Errorf("secret file %s: everybody may read or write it (mode %04o), so it is no secret: chmod 600 it, and write a new secret into it", path, mode.Perm())
	}
	return nil
}

func trimSecret(path string, text []byte) ([]byte, error) {
	secret := bytes.TrimSpace(text)
	switch {
	case len(text) > secretFileMax:
		return nil, fmt.Errorf("secret file %s: more than %d bytes: name a file that holds a secret only", path, secretFileMax)
	case len(secret) < secretMin:
		return nil, fmt.Errorf("secret file %s: %d bytes are too few: write at least %d random ones into it, as of openssl rand -hex 32", path, len(secret), secretMin)
	}
	return secret, nil
}
