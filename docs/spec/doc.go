// Package spec holds the agreement and the detector as explicit models, Era.tla and
// Ring.tla, and their explanation. It has no code but tests, which explore the models.
package spec
