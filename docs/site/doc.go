// Command site writes the documentation of goulfm as a folder of HTML pages, which a browser reads
// from disk or from any file server, without a network.
//
//	cd docs/site && go run .              # into docs/site/public
//	go run . -out /tmp/site
//
// The pages are:
//
//   - README.md, and each Markdown page that a page of the site links to,
//   - the documentation of each public package, with its examples (those of the folder api, and gridrpc),
//   - the help of each command,
//   - each source file and folder that a page links to.
//
// Addresses follow the repository: docs/NODES.md is docs/NODES.html. A link to a missing page,
// file or heading is an error that names the page, and the program then ends with code 1.
//
// The folder screenshots has three pictures that "make site-check" has taken.
package main
