// Package tidy holds the repository to its own rules, so that plain "go test
// ./..." is the gate and no second tool has to be installed:
//
//   - the import table in docs/ARCHITECTURE.md and the code agree ([Imports]);
//   - the drawing of the groups of packages there is that of the code ([Drawing]);
//   - the rules (tier 1 of that table) are pure ([Pure]);
//   - every package has a comment ([Comments]);
//   - the README's program is one of the examples ([Readme]);
//   - the pages of examples, bench and stress list every program ([Programs]);
//   - the rules page lists every rule that a comment may cite ([Rules]);
//   - CHANGELOG.md lists every published name that is removed ([API]);
//   - published packages show no type of an internal package ([Surface]);
//   - each published function and method is in an example of its package ([Examples]);
//   - the pages for users mention only names that exist ([Names]);
//   - links in pages lead to files that exist ([Links]);
//   - the glossary is short, and the code uses its terms ([Glossary]);
//   - types, functions and files do not outgrow their reader ([Sizes]);
//   - no test of a former revision is lost ([LostTests]), a target runs each module ([ModulesRun]);
//   - HACKING.md lists the long tests ([LongTests]);
//   - no marker of unfinished work and no path of one machine is left ([Text]);
//   - comments, messages and pages are plain English, or approach that ([Prose]).
//
// Each check is a function from a tree of files to its findings. The tests run
// each check on small trees with faults, then on the repository itself.
//
// Build constraints are ignored on purpose: a file counts for every platform
// and tag at once, so that files hidden from this build are checked as well.
// Test files may import anything; only the checks of text, of prose, of examples and of the
// list of packages apply to them.
package tidy
