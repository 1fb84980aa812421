package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/platform"
)

// defaultStore stands for a folder in the folder of the platform.
const defaultStore = "DIR/store"

// up starts a platform.
func up(ctx context.Context, args []string) error {
	f := flags("up")
	var c platform.Config
	f.StringVar(&c.Tree, "tree", "2x2", "`AxB` agents below each agent, level by level, the last number servers; several trees by commas")
	f.IntVar(&c.Ancestors, "ancestors", 16, fmt.Sprintf("each agent and server knows `F` ancestors, 1 to %d: it finds a parent without the master after fewer deaths in a row", platform.AncestorsMax))
	f.IntVar(&c.Observers, "observers", 0, "each agent and server observes the nearest `M` of them; 0: (F-1)/4, rounded up")
	f.BoolVar(&c.NoRecovery, "no-recovery", false, "let a process that loses its parent search no other one: for comparisons")
	f.IntVar(&c.Masters, "masters", 1, "`N` masters, 1, 3 or 5: of several, one is the root, and a minority may be lost")
	f.BoolVar(&c.NoRestart, "no-restart", false, "start no process anew that has died")
	f.StringVar(&c.Store, "store", defaultStore, "`STORE` of checkpoints: a folder that all servers see, s3://BUCKET/FOLDER (go doc ./store/s3), or jetstream: three processes of the platform; empty: none. PROGRAM has to import the package of the store (go doc ./store)")
	f.StringVar(&c.StoreDir, "store-dir", "", "`FOLDER` on each machine for the files of --store jetstream; by default in that of the platform")
	hosts := f.String("hosts", "", "`A,B,C` machines that see the platform's folder and have this command and PROGRAM at the same place; processes start on them in turn. Or a number of machines to imitate")
	rsh := f.String("rsh", sshCommand, "`COMMAND` that gets a machine and a command to run there")
	var programs sandboxed
	programs.register(f)
	f.DurationVar(&c.Detect, "detect", 5*time.Second, "declare silent agents and servers dead within this time")
	f.StringVar(&c.Listen, "listen", "", "`HOST`: name or address at which other machines reach this one; by default the loopback address")
	f.DurationVar(&c.CertificateLife, "certificates", link.Life, "certificates last this long, and are renewed at half of it")
	f.DurationVar(&c.RenewAfter, "renew-after", 0, "renew certificates at this age; 0: half of --certificates")
	if err := programs.parse(f, args); err != nil {
		return err
	}
	if err := setHosts(&c, *hosts, *rsh); err != nil {
		return err
	}
	var err error
	c.Dir = gridrpc.DefaultDir()
	if c.Store == defaultStore {
		c.Store = filepath.Join(c.Dir, "store")
	}
	if c.Command, err = os.Executable(); err != nil {
		return err
	}
	if c.Program = f.Args(); len(c.Program) == 0 {
		if c.Program, err = programs.server(); err != nil {
			return err
		}
	}
	if err := c.Check(); err != nil { // also for a flag that is 0
		return asFlag("up", err)
	}
	return platform.Run(ctx, c)
}

// flagOf maps a field of a configuration to its flag.
var flagOf = map[string]string{
	"Tree": "--tree", "Ancestors": "--ancestors", "Observers": "--observers", "Masters": "--masters",
	"CertificateLife": "--certificates", "RenewAfter": "--renew-after", "Hosts": "--hosts", "RemoteShell": "--rsh", "Tier": "--tier",
}

// asFlag replaces an error about a field that a flag sets by a mistake.
func asFlag(verb string, err error) error {
	wrong, ok := errors.AsType[*platform.ConfigError](err)
	if !ok || flagOf[wrong.Field] == "" {
		return err
	}
	return mistake{verb, fmt.Sprintf("%s %v: want %s", flagOf[wrong.Field], wrong.Value, wrong.Want)}
}
