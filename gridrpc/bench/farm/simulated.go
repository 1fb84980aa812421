package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/gridrpc/internal/ranking"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/gridrpc/internal/tree"
	"github.com/goulfm/goulfm/gridrpc/internal/world"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// Times of the simulated farm.
const (
	jobTakes  = 28240 * mono.Millisecond // the paper's average
	jobSpread = 0.05                     // largest relative deviation of a job

	agentTells  = 50 * mono.Millisecond  // at most as often, as internal/agent has it
	serverTells = 100 * mono.Millisecond // as a server has it
	serverRests = 2 * mono.Second
	freshTakes  = 20 * mono.Millisecond // a request to all servers
)

// farm is a platform in virtual time, with the real rules of the tree, the estimates, the servers
// and the calls.
type farm struct {
	plan
	curve
	*world.World
	master    *post
	posts     map[string]*post
	submitted int
	begun     mono.Time
	done      []float64
}

// post is the state of a process, without its place in the tree.
type post struct {
	*world.Process
	number   uint64
	parent   string // the parent that has the reports of this process
	told     mono.Time
	telling  bool
	table    ranking.Table // of an agent
	children []uint64

	server  bool
	desk    session.Desk
	said    uint64
	known   bool // the duration of a job here is known
	running bool
	waiting []func()
}

// simulate runs a farm, and returns the end of each job.
func simulate(c curve, p plan) []float64 {
	f := &farm{plan: p, curve: c, World: world.New(rand.New(rand.NewPCG(6, 6))), posts: map[string]*post{}}
	f.Stepped = func(p *world.Process) { f.moved(f.posts[p.Name]) }
	f.build()
	f.Run(f.Now.Add(30 * mono.Second)) // all processes have joined and reported
	f.begun = f.Now
	f.submit(p.first)
	for end := f.Now.Add(24 * 3600 * mono.Second); len(f.done) < p.jobs; {
		if !f.Next(end) {
			panic(fmt.Sprintf("%d of %d jobs are done in a day", len(f.done), p.jobs))
		}
	}
	return f.done
}

// build makes the tree of the plan, with the names of "gridrpc up".
func (f *farm) build() {
	f.master = f.add("ma", "", 0, false)
	sites, err := f.layout()
	if err != nil {
		panic(err) // the command has read it before
	}
	agents, servers := 0, 0
	agent := func(parent string, tier int) string {
		agents++
		name := fmt.Sprint("a", agents)
		f.add(name, parent, tier, false)
		return name
	}
	for _, s := range sites {
		head := agent("ma", 1)
		var below []string
		for range s.agents {
			below = append(below, agent(head, 2))
		}
		for _, parent := range below {
			for range s.servers {
				servers++
				f.add(fmt.Sprint("s", servers), parent, serverTier, true)
			}
		}
	}
}

// serverTier is the tier of leaves, as in internal/treehost.
const serverTier = 65535

func (f *farm) add(name, parent string, tier int, server bool) *post {
	c := tree.Config{Me: tree.Ref{ID: tree.ID{Name: name, Incarnation: 1}, Tier: tier, Addr: name}, Root: parent == ""}
	if parent != "" {
		c.Home = &tree.Ref{ID: tree.ID{Name: parent}, Addr: parent, Tier: tree.Untiered}
	}
	p := &post{Process: f.Add(c), number: uint64(len(f.posts) + 1), server: server, desk: session.Desk{Places: 2}}
	p.Stays = !f.mends
	f.posts[name] = p
	f.Step(p.Process, tree.Start{At: f.Now})
	return p
}

// moved handles the changes of a step of the tree: it removes lost children, and reports to a new
// parent.
func (f *farm) moved(p *post) {
	if p == nil {
		return // it is being added
	}
	var now []uint64
	for _, c := range p.Rule.Children() {
		now = append(now, f.posts[c.Name].number)
	}
	for _, id := range p.children {
		if !slices.Contains(now, id) {
			p.table.Drop(id, f.Now)
			f.tell(p)
		}
	}
	p.children = now
	if parent, _, ok := p.Rule.Parent(); ok && p.parent != parent.Name {
		p.parent = parent.Name
		f.tell(p)
	} else if !ok {
		p.parent = ""
	}
}

// tell makes a process report to its parent, with a bounded rate.
func (f *farm) tell(p *post) {
	every := agentTells
	if p.server {
		every = serverTells
	}
	if p.telling {
		return
	}
	p.telling = true
	f.At(p.told.Add(every), func() {
		p.telling, p.told = false, f.Now
		f.report(p)
		if p.server && !p.Dead {
			f.After(serverRests, func() {
				if f.Now.Sub(p.told) >= serverRests {
					f.tell(p)
				}
			})
		}
	})
}

func (f *farm) report(p *post) {
	if p.Dead || p.parent == "" {
		return
	}
	list, to := p.estimates(f.Now), f.posts[p.parent]
	f.Send(to.Process, func() {
		if slices.Contains(to.children, p.number) {
			to.table.Report(p.number, list, f.Now)
			f.tell(to)
		}
	})
}

// estimates returns the report of a process to its parent.
func (p *post) estimates(now mono.Time) []ranking.Estimate {
	if !p.server {
		return slices.Clone(p.table.Estimates(""))
	}
	p.said++
	e := ranking.Estimate{
		Server: ranking.Server{Name: p.Name, Incarnation: 1}, Addr: p.Name, Service: "dgemm", Number: p.said, Said: now,
		Free: max(0, p.desk.Free()),
	}
	each := 0.0
	if p.known {
		each = float64(jobTakes) / float64(mono.Second)
		e.Rate = 1 / each
	}
	e.Wait = ranking.Wait(1, p.desk.Places-p.desk.Free(), each)
	return []ranking.Estimate{e}
}

// refresh makes all reachable processes report now.
func (f *farm) refresh(p *post) {
	for _, c := range p.Rule.Children() {
		child := f.posts[c.Name]
		if parent, _, ok := child.Rule.Parent(); child.Dead || !ok || parent.Name != p.Name {
			continue
		}
		f.refresh(child)
		p.table.Report(child.number, child.estimates(f.Now), f.Now)
	}
}

func (f *farm) submit(n int) {
	for range min(n, f.jobs-f.submitted) {
		f.submitted++
		j := &job{farm: f, number: f.submitted, rule: session.New(session.Config{})}
		j.step(session.Begin{At: f.Now})
	}
}

// ended counts a completed job, and starts the jobs and deaths that follow from it.
func (f *farm) ended() {
	f.done = append(f.done, float64(f.Now.Sub(f.begun))/float64(mono.Second))
	n := len(f.done)
	if f.curve.deaths {
		f.kill(f.victims(n))
	}
	if n%f.plan.step == 0 {
		f.submit(f.plan.step)
	}
}

// kill ends agents. Processes with a link to one find that its machine refuses connections.
func (f *farm) kill(names []string) {
	for _, name := range names {
		f.posts[name].Dead = true
	}
	for _, name := range names {
		dead := f.posts[name]
		for _, o := range f.order() {
			if linked, _ := world.Linked(o.Process, dead.Process); linked && !o.Dead {
				f.After(2*f.Way(), func() { f.Step(o.Process, tree.Declared{At: f.Now, Who: dead.Rule.Me().ID}) })
			}
		}
	}
}

// order returns all processes in the order of their addition.
func (f *farm) order() []*post {
	all := make([]*post, len(f.posts))
	for _, p := range f.posts {
		all[p.number-1] = p
	}
	return all
}
