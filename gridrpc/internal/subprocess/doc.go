// Package subprocess has programs that a server starts end with the server: one that is killed
// cannot end them any more, and its calls go on elsewhere. It also has something run beside such a
// program, as long as that runs.
package subprocess
