// Package subprocess starts programs that end with the server that started them. A server that is
// killed cannot end them itself, and its calls continue on other servers. The package also runs a
// function beside such a program.
package subprocess
