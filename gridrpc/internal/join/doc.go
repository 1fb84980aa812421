// Package join brings machines into a platform that do not see its folder: it hosts internal/token.
//
// A master answers (Desk): it reads the book of tokens from the platform's folder, asks the rules,
// and signs. The book is a file there, which is locked while it is changed, so that "gridrpc
// token", and any of several masters, may do it: the Raft group of masters agrees on who is the
// root only, and holds no data. Who may write the folder may make tokens; no certificate does.
//
// A machine asks (Join): it makes its key, which it keeps, and sends it to be signed over a
// connection to a master that has proved to be of the platform whose hash is in the token. What it
// gets is in a folder of its own (Home), which looks to the rest of this module as a platform's
// folder does, with this one identity in it.
package join
