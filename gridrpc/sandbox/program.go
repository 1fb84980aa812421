package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/server"
)

// EnvRunsc names runsc in the environment of a server.
const EnvRunsc = "GRIDRPC_RUNSC"

// Folder is the working folder of a program, in its sandbox.
const Folder = "/call"

// Program is the program that each call of a service runs.
type Program struct {
	Args  []string      // the absolute path of the program outside, and its arguments
	Read  []string      // other files and folders that it can read; nil: /bin, /lib, /lib64 and /usr
	Every time.Duration // from the end of an image to the next one; 0: 10 s; negative: no images
	Runsc string        // default: the path in GRIDRPC_RUNSC, or runsc in PATH
}

// everyDefault is the time between two images.
const everyDefault = 10 * time.Second

// Register offers a program as a service with texts as argument and result. Without runsc the error
// is gridrpc.ErrUnsupported.
func Register(s *server.Server, name string, p Program, o ...server.ServiceOption) error {
	p, err := p.complete()
	if err != nil {
		return &gridrpc.Error{Op: "register", Service: name, Err: err}
	}
	return server.Register(s, name, func(ctx context.Context, c *server.Call, in *string) (*string, error) {
		out, err := p.run(ctx, c, *in)
		return &out, err
	}, o...)
}

// complete sets the defaults, and checks the program.
func (p Program) complete() (Program, error) {
	if len(p.Args) == 0 || !filepath.IsAbs(p.Args[0]) {
		return p, fmt.Errorf("sandbox: %q: want the path of a program, from the root, and its arguments", p.Args)
	}
	if _, err := os.Stat(p.Args[0]); err != nil {
		return p, fmt.Errorf("sandbox: %w", err)
	}
	path, err := exec.LookPath(cmp.Or(p.Runsc, os.Getenv(EnvRunsc), "runsc"))
	if err != nil {
		return p, fmt.Errorf("%w: sandboxes need runsc of gVisor: %w: \"make runsc\" builds it; set %s, or Program.Runsc", gridrpc.ErrUnsupported, err, EnvRunsc)
	}
	p.Runsc = path
	if p.Every == 0 {
		p.Every = everyDefault
	}
	if p.Read == nil {
		for _, folder := range []string{"/bin", "/lib", "/lib64", "/usr"} {
			if _, err := os.Stat(folder); err == nil {
				p.Read = append(p.Read, folder)
			}
		}
	}
	for _, path := range p.Read {
		if !filepath.IsAbs(path) {
			return p, fmt.Errorf("sandbox: %q: want a path from the root", path)
		}
	}
	return p, nil
}

// run executes one attempt of a call.
func (p Program) run(ctx context.Context, c *server.Call, in string) (out string, err error) {
	dir, err := c.Dir()
	if err != nil {
		return "", err
	}
	b := &box{call: c, tool: tool{path: p.Runsc, dir: dir}, every: p.Every}
	from, err := b.recall()
	if err == nil {
		err = b.prepare(p, from == "", in)
	}
	if err == nil {
		err = b.run(ctx, from)
	}
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(b.path(outputFile))
	return string(data), err
}

// errExit reports that a program ended with an exit code other than 0 or by a signal.
var errExit = errors.New("the program in the sandbox failed")
