package server

import (
	"context"
	"fmt"
	"log"
	"maps"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/ranking"
	"github.com/goulfm/goulfm/gridrpc/internal/results"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/gridrpc/internal/treehost"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// Server offers services. Its fields may be set in the function that Main calls.
type Server struct {
	Places int                 // bodies that run at once; default the number of CPUs
	Queue  int                 // calls that may wait besides; default as many again
	Member *gridrpc.Membership // if the folder of the platform is not seen; nil: GRIDRPC_IDENTITY

	services map[string]*service
	me       *pb.Ref
	host     string // this machine
	dir      string
	pulse    *heartbeat.Pulse
	leaf     *leaf
	store    checkpoint.Store // of checkpoints; nil: none
	shelf    *results.Shelf   // of large results that are kept; nil: none
	log      *log.Logger
	ctx      context.Context
	news     chan struct{} // has one element when an estimate has changed
	said     uint64        // number of the latest report
	slots    chan struct{} // bodies that run

	mu       sync.Mutex
	desk     session.Desk
	attempts map[session.CallID]*attempt
	keeps    map[session.CallID]*attempt // those of them that may be kept: far fewer
}

// Main runs this program as a server of the platform whose folder its environment names, until an
// interrupt, SIGTERM, or the end of "gridrpc up". setup registers the services. After an error
// Main prints the error and exits with code 1.
func Main(setup func(*Server) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(discovery.Tethered(ctx), setup); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, setup func(*Server) error) error {
	s := &Server{dir: gridrpc.DefaultDir(), services: map[string]*service{}, attempts: map[session.CallID]*attempt{}, keeps: map[session.CallID]*attempt{}, news: make(chan struct{}, 1)}
	if err := setup(s); err != nil {
		return err
	}
	if s.Places == 0 {
		s.Places = runtime.NumCPU()
	}
	if s.Queue == 0 {
		s.Queue = s.Places
	}
	s.ctx, s.slots = ctx, make(chan struct{}, s.Places)
	name, member := os.Getenv(discovery.EnvName), s.Member != nil || os.Getenv(gridrpc.EnvIdentity) != ""
	if !member && !discovery.NameForm.MatchString(name) {
		return &gridrpc.Error{Op: "serve", Err: fmt.Errorf("%s is %q, not a name: start this program with \"gridrpc up\", or \"gridrpc serve\" on other machines", discovery.EnvName, name)}
	}
	var w *join.Wish
	if s.Member != nil {
		w = &join.Wish{Dir: s.Member.Dir, Token: s.Member.Token, Name: s.Member.Name}
	}
	me, err := join.Identify(ctx, w, s.dir, link.Worker, name)
	if err != nil {
		return &gridrpc.Error{Op: "serve", Server: name, Err: err}
	}
	at := discovery.ListenAt()
	if s.dir = me.Dir; member {
		release, err := join.Occupy(s.dir)
		if err == nil {
			defer release()
			_, name, err = me.Identity.Subject()
		}
		if err == nil {
			at, err = listenForMasters(s.dir)
		}
		if err != nil {
			return &gridrpc.Error{Op: "serve", Server: name, Err: err}
		}
	}
	s.log = log.New(os.Stderr, name+": ", log.Lmsgprefix)
	go me.KeepFresh(ctx, s.log)
	return s.listen(ctx, me.Identity, name, at)
}

// listen serves until ctx is done.
func (s *Server) listen(ctx context.Context, id *link.Identity, name, at string) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return &gridrpc.Error{Op: "serve", Server: name, Err: err}
	}
	s.me = &pb.Ref{Name: name, Incarnation: uint64(time.Now().UnixNano()), Addr: l.Addr().String(), Tier: treehost.ServerTier}
	s.host = discovery.Host()
	if s.store, err = openStore(ctx, s.dir, id); err != nil {
		return &gridrpc.Error{Op: "serve", Server: name, Err: err}
	}
	if err := os.RemoveAll(s.workDir()); err != nil { // of an incarnation that was killed
		return &gridrpc.Error{Op: "serve", Server: name, Err: err}
	}
	s.desk = session.Desk{Incarnation: s.me.Incarnation, Places: s.Places + s.Queue}
	if s.store != nil {
		s.shelf = results.New(s.store, name)
	}
	s.takeOver(ctx)
	if s.pulse, err = heartbeat.New(id, s.me); err != nil {
		return &gridrpc.Error{Op: "serve", Server: name, Err: err}
	}
	defer s.pulse.Close()
	g := id.NewServer()
	pb.RegisterServerServer(g, calls{server: s})
	pb.RegisterNodeServer(g, node{server: s})
	if err := s.join(ctx, id); err != nil {
		return &gridrpc.Error{Op: "serve", Server: name, Err: err}
	}
	go func() {
		<-ctx.Done()
		g.Stop()
	}()
	if err := g.Serve(link.Door(l)); err != nil && ctx.Err() == nil {
		return &gridrpc.Error{Op: "serve", Server: name, Err: err}
	}
	return nil
}

// changed reports that an estimate has changed.
func (s *Server) changed() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// measure waits for a place, unless ctx is done before, and returns the function to call at the
// end of a body with this work. Only a whole body counts for the speed of the server.
func (s *Server) measure(ctx context.Context, v *service, work float64) (end func(whole bool), err error) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	begun := time.Now()
	return func(whole bool) {
		<-s.slots
		s.mu.Lock()
		defer s.mu.Unlock()
		if whole {
			v.rates.add(work, time.Since(begun))
		}
	}, nil
}

// estimates returns the present estimate of each service.
func (s *Server) estimates() []*pb.Estimate {
	metrics := map[string]float64{} // a program's own functions run without the lock
	for name, v := range s.services {
		metrics[name] = v.measured()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said++
	taken := s.Places + s.Queue - s.desk.Free()
	var list []*pb.Estimate
	for _, name := range slices.Sorted(maps.Keys(s.services)) {
		v := s.services[name]
		e := &pb.Estimate{Server: s.me, Host: s.host, Number: s.said, Service: name, Rate: v.rates.perSecond, Metric: metrics[name], Free: uint32(max(0, s.desk.Free()))}
		e.Wait = ranking.Wait(s.Places, taken, v.rates.took)
		list = append(list, e)
	}
	return list
}
