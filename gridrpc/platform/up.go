package platform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// Config describes a platform. Zero values are replaced by defaults.
type Config struct {
	// Dir is the folder of the platform, for its owner alone. Default: that of GRIDRPC_DIR, or a
	// folder of this user.
	Dir string
	// Command is the path of the command gridrpc, on all machines. Required.
	Command string
	// Program is the command of the servers: a program or the folder of one, and arguments.
	// Required.
	Program []string
	// Tree is AxB: the numbers of agents below each agent, level by level, and of servers at last.
	// Several trees are separated by commas. Default: 2x2.
	Tree string
	// Masters is 1, 3 or 5. One of several is the root, and a minority may be lost. Default: 1.
	Masters int

	// Ancestors is the number of ancestors that each process of the tree knows, at most
	// AncestorsMax. Default: 16.
	Ancestors int
	// Observers is the number of nearest ancestors that it observes. Default: (Ancestors-1)/4,
	// rounded up.
	Observers int
	// NoRecovery prevents that processes search another parent after the loss of theirs.
	NoRecovery bool
	// NoRestart prevents that dead processes are started anew.
	NoRestart bool

	// Store is the store of checkpoints: a name of package store, or "jetstream" for a store in
	// three processes of the platform. Default: none.
	Store string
	// StoreDir is the folder of these processes' files, on each machine. Default: Dir.
	StoreDir string

	// Hosts are machines that see Dir. Processes start on them in turn. Default: this machine.
	Hosts []string
	// RemoteShell is a command that gets a machine and a command to run there. Required with
	// Hosts.
	RemoteShell []string
	// Imitate is the number of machines to imitate on this machine. 0 with Hosts.
	Imitate int
	// Listen is the name or address at which other machines reach this machine. Default: the
	// loopback address.
	Listen string

	// Detect is the time within which silent agents and servers are declared dead. Default: 5 s.
	Detect time.Duration
	// CertificateLife is the life of certificates. Default: 24 h.
	CertificateLife time.Duration
	// RenewAfter is the age at which certificates are renewed. Default: half of CertificateLife.
	RenewAfter time.Duration
}

// AncestorsMax is the largest value of Config.Ancestors.
const AncestorsMax = discovery.KnownMax

// ConfigError reports a field of a Config or an Agent with a value that is not allowed.
type ConfigError struct {
	Field string
	Value any
	Want  string // the allowed values
}

// Error returns the field, its value and the allowed values.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("platform: %s is %q: want %s", e.Field, fmt.Sprint(e.Value), e.Want)
}

// Defaults of a Config.
const (
	defaultTree      = "2x2"
	defaultAncestors = 16
	defaultDetect    = 5 * time.Second
)

// WithDefaults returns c with the defaults in place of zero values.
func (c Config) WithDefaults() Config {
	set := func(field *time.Duration, value time.Duration) {
		if *field == 0 {
			*field = value
		}
	}
	if c.Dir == "" {
		c.Dir = discovery.Default()
	}
	if c.Tree == "" {
		c.Tree = defaultTree
	}
	if c.Masters == 0 {
		c.Masters = 1
	}
	if c.Ancestors == 0 {
		c.Ancestors = defaultAncestors
	}
	set(&c.Detect, defaultDetect)
	set(&c.CertificateLife, link.Life)
	return c
}

// Check returns a ConfigError for the first field with a value that is not allowed. Zero values
// are not replaced: Run calls WithDefaults first.
func (c Config) Check() error {
	if _, err := parseSites(c.Tree); err != nil {
		return err
	}
	for _, one := range []struct {
		ok    bool
		field string
		value any
		want  string
	}{
		{c.Ancestors >= 1 && c.Ancestors <= AncestorsMax, "Ancestors", c.Ancestors, fmt.Sprintf("1 to %d", AncestorsMax)},
		{c.Observers >= 0 && c.Observers <= c.Ancestors, "Observers", c.Observers, fmt.Sprintf("1 to the number of ancestors, %d", c.Ancestors)},
		{c.Masters == 1 || c.Masters == 3 || c.Masters == 5, "Masters", c.Masters, "1, 3 or 5: a majority of them has to be there"},
		{c.CertificateLife >= lifeMin, "CertificateLife", c.CertificateLife, fmt.Sprintf("%v at least: they have to be renewed before they end", lifeMin)},
		{c.RenewAfter == 0 || c.RenewAfter >= lifeMin/2 && c.RenewAfter <= c.CertificateLife/2, "RenewAfter", c.RenewAfter, fmt.Sprintf("%v at least, and at most half of the life of certificates, %v", lifeMin/2, c.CertificateLife)},
		{!slices.ContainsFunc(c.Hosts, func(name string) bool { return name == "" || strings.HasPrefix(name, "-") }), "Hosts", strings.Join(c.Hosts, ","), "machines, such as a,b,c"},
		{len(c.Hosts) == 0 || len(c.RemoteShell) > 0, "RemoteShell", strings.Join(c.RemoteShell, " "), "a command"},
		{c.Imitate >= 0 && (c.Imitate == 0 || len(c.Hosts) == 0), "Imitate", c.Imitate, "0 or more, and 0 with Hosts"},
		{c.Command != "", "Command", c.Command, "the path of the command gridrpc"},
		{len(c.Program) > 0, "Program", strings.Join(c.Program, " "), "the command of the servers"},
	} {
		if !one.ok {
			return &ConfigError{one.field, one.value, one.want}
		}
	}
	return nil
}

// onlyMaster is the name of the master in its certificate, where there is one.
const onlyMaster = "ma"

// platform is a running platform.
type platform struct {
	dir        string
	command    string    // path of the command gridrpc
	out        io.Writer // of the event log
	begun      time.Time
	restarts   bool
	detect     time.Duration
	masterPort string        // of the former only master, which members know; "0": none
	life       time.Duration // of certificates
	renewAfter time.Duration // 0: half of that
	masters    int
	agents     int
	servers    int
	hosts      hosts
	children   *children

	ancestors  int // that each process of the tree knows
	observers  int // of them that each observes; 0: the default
	noRecovery bool
	ownStore   bool // processes of the platform hold the checkpoints
	storeDir   string
}

// Run starts a platform, and returns when ctx is done and all its processes have ended, or with
// an error if the platform cannot be started. Run prints an event log on the standard output,
// with a line "NAME is process PID" for each start of a process, and a line with "serving in"
// once calls are answered.
//
// Run sets GRIDRPC_DIR and GRIDRPC_LISTEN in the environment of this process, and removes
// GRIDRPC_IDENTITY. One process runs one platform at a time.
func Run(ctx context.Context, c Config) error {
	c = c.WithDefaults()
	if err := c.Check(); err != nil {
		return err
	}
	sites, err := parseSites(c.Tree)
	if err == nil && c.Listen != "" {
		err = os.Setenv(discovery.EnvListen, c.Listen)
	}
	if err != nil {
		return err
	}
	if err := os.Unsetenv(discovery.EnvOwn); err != nil { // all processes here see the folder
		return err
	}
	if c.Dir, err = filepath.Abs(c.Dir); err == nil {
		err = os.Setenv(discovery.EnvDir, c.Dir)
	}
	if err != nil {
		return err
	}
	p := &platform{
		dir: c.Dir, command: c.Command, out: os.Stdout, begun: time.Now(), masters: c.Masters, restarts: !c.NoRestart, detect: c.Detect, life: c.CertificateLife, renewAfter: c.RenewAfter,
		hosts: hosts{names: c.Hosts, rsh: c.RemoteShell, plays: c.Imitate}, noRecovery: c.NoRecovery, ancestors: c.Ancestors, observers: c.Observers,
	}
	err = errors.Join(p.prepare(), p.hosts.listen())
	var server []string
	if err == nil {
		server, err = p.program(ctx, c.Program)
	}
	if c.StoreDir != "" && err == nil {
		p.storeDir, err = filepath.Abs(c.StoreDir)
	}
	if p.ownStore = c.Store == ownStore; err == nil && !p.ownStore {
		err = p.nameStore(ctx, c.Store)
	}
	if err != nil {
		return err
	}
	return p.run(ctx, sites, server)
}

// run starts the processes, and waits for their end.
func (p *platform) run(ctx context.Context, sites [][]int, server []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.children = newChildren(ctx, p)
	err := p.start(sites, server)
	if err == nil {
		err = p.awaitService(ctx)
	}
	if err != nil && ctx.Err() == nil {
		cancel()
		p.children.wait()
		return err
	}
	if ctx.Err() == nil {
		p.say("serving in %s; \"gridrpc ls\" lists, \"gridrpc call\" calls, interrupt to end", p.dir)
	}
	<-ctx.Done()
	p.children.wait()
	p.say("ended")
	return os.RemoveAll(discovery.MastersFile(p.dir)) // the platform has ended
}
