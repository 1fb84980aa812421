// Package tidy holds the repository to its own rules, so that plain "go test
// ./..." is the gate and no second tool has to be installed:
//
//   - the import table in docs/ARCHITECTURE.md and the code agree ([Imports]);
//   - the rules (tier 1 of that table) are pure ([Pure]);
//   - every package says what it is ([Comments]);
//   - the README's program is one of the examples ([Readme]);
//   - the rules page lists every rule that a comment may cite ([Rules]);
//   - no published name goes without a word in CHANGELOG.md ([API]);
//   - what programs import shows no type of an internal package ([Surface]);
//   - the pages for users mention only names that exist ([Names]);
//   - links in pages lead to files that exist ([Links]);
//   - types, functions and files do not outgrow their reader ([Sizes]);
//   - nothing half done and nothing about one machine is left in ([Text]);
//   - comments, messages and pages are plain English, or come closer to it with each change ([Prose]).
//
// Each check is a function from a tree of files to its findings. The tests run
// each one on small trees made to break it, then on the repository itself.
//
// Build constraints are ignored on purpose: a file counts for every platform
// and tag at once, so that what is hidden from this build is held as well.
// Files of tests may import and do what they like; only the text checks and the
// need to be listed in the table concern them.
package tidy
