package remotedaemon

import (
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/net/membershiphost"
)

// welcome has another node known that has come late: its daemon to this one, and where its
// processes will listen to those of this node.
func (o *nodeDaemon) welcome(w daemonproto.Welcome) {
	said := daemonproto.Welcomed{Node: w.Node}
	err := o.neighbours.Table.Add(boot.Row{Slots: w.Slots, Addrs: w.Addrs, Births: w.Births})
	if err == nil {
		err = o.driver.Admit(w.Node+1, membershiphost.Peer(w.Member))
	}
	if err != nil {
		said.Why = err.Error()
	}
	o.mouth.Say(said)
}
