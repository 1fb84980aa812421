// Package platform starts the platforms on which servers of package server offer services:
// masters, agents, servers and, if requested, the processes of a store. The command gridrpc is a
// thin layer of flags above this package.
//
//	Run          starts a platform and restarts its dead processes until the context is done
//	ServeAgent   is a master or an agent, in the process that Run starts for it
//	NewToken     lets a machine join that does not see the folder of the platform
//
// Run starts masters, agents and processes of the store as subcommands of Config.Command, the path
// of the command gridrpc: master, agent, store and free. Servers are processes of Config.Program.
// Every process of the platform ends within two seconds of the process that has called Run.
//
// # Not promised
//
// A platform ends with the process that has called Run. The folder of the platform must outlive
// the machines that may be lost.
package platform
