// Package jobhost joins the rules of a job and the daemon of a node: what the daemon sees are
// events of the rules, and what the rules decide the daemon does. The launcher and the daemon
// of adopted processes are hosts, and add what only they do.
package jobhost
