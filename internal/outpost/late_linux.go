package outpost

import (
	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/orders"
	"github.com/goulfm/goulfm/internal/vigil"
)

// welcome has another node known that has come late: its daemon to this one, and where its processes will listen to those
// of this node.
func (o *outpost) welcome(w orders.Welcome) {
	said := orders.Welcomed{Node: w.Node}
	err := o.neighbours.Table.Add(boot.Row{Seats: w.Seats, Addrs: w.Addrs, Births: w.Births})
	if err == nil {
		err = o.vigil.Admit(w.Node+1, vigil.Peer(w.Member))
	}
	if err != nil {
		said.Why = err.Error()
	}
	o.mouth.Say(said)
}
