package matrix_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// notInTable lists the exported operations without a cell, and the reasons.
var notInTable = map[string]string{
	"Abort":               "ends the process: TestSpecR5R63C8WaysToEnd",
	"ErrorsAbort":         "ends the process: TestSpecR5R63C8WaysToEnd",
	"ErrorsFatal":         "ends the process: TestSpecR5R63C8WaysToEnd",
	"Main":                "is what the process is in: TestSpecR5R63C8WaysToEnd",
	"MainWith":            "is what the process is in: TestSpecR5R63C8WaysToEnd",
	"Init":                "there is no state yet: TestSpecContextInit",
	"InitWith":            "there is no state yet: TestSpecContextInit",
	"InterBarrier":        "takes an intercommunicator: TestSpawn",
	"InterBcast":          "takes an intercommunicator: TestSpawn",
	"InterAllreduce":      "takes an intercommunicator: TestSpawn",
	"InterReduce":         "takes an intercommunicator: TestInterFailure",
	"InterGather":         "takes an intercommunicator: TestInterFailure",
	"InterScatter":        "takes an intercommunicator: TestInterFailure",
	"InterAllgather":      "takes an intercommunicator: TestInterFailure",
	"InterAlltoall":       "takes an intercommunicator: TestInterFailure",
	"Merge":               "asks an intercommunicator: TestSpecR56MergeIsUniform",
	"RemoteSize":          "asks an intercommunicator: TestIntercommGroups",
	"RemoteGroup":         "asks an intercommunicator: TestIntercommGroups",
	"Disconnect":          "ends what is not the world: TestSpecC11DisconnectDeathAtEveryFrame",
	"Spawn":               "takes a launcher: TestSpecR59SpawnThatFails",
	"Parent":              "takes a launcher: TestSpawn",
	"Replace":             "takes a launcher: TestReplaceGivesRanks",
	"Joined":              "takes a launcher: TestReplaceGivesRanks",
	"Handover":            "takes a launcher: TestReplaceGivesRanks",
	"Bytes":               "asks no communicator",
	"Elems":               "asks no communicator",
	"Pack":                "asks no communicator",
	"Unpack":              "asks no communicator",
	"Recoverable":         "asks an error",
	"WaitAllStatus":       "is what WaitAll calls",
	"Custom":              "an operator",
	"Block":               "asks no communicator",
	"Self":                "has one member: TestSelf",
	"CustomOf":            "an operator",
	"Tag":                 "names an endpoint",
	"Algorithm":           "is an option of a call",
	"Reproducible":        "is an option of a call",
	"NeighborAllgather":   "the world has no topology: the tests of collectives call it in every state",
	"IneighborAllgather":  "the world has no topology: the tests of collectives call it in every state",
	"NeighborAllgatherv":  "the world has no topology: the tests of collectives call it in every state",
	"IneighborAllgatherv": "the world has no topology: the tests of collectives call it in every state",
	"NeighborAlltoall":    "the world has no topology: the tests of collectives call it in every state",
	"IneighborAlltoall":   "the world has no topology: the tests of collectives call it in every state",
	"NeighborAlltoallv":   "the world has no topology: the tests of collectives call it in every state",
	"IneighborAlltoallv":  "the world has no topology: the tests of collectives call it in every state",
}

// value reports whether a function needs no cell: a method of operators, groups, errors or
// unexported types, a function without parameters, or an operation.
func value(fn *ast.FuncDecl) bool {
	if fn.Recv != nil {
		of := fn.Recv.List[0].Type
		if pointer, ok := of.(*ast.StarExpr); ok {
			of = pointer.X
		}
		if generic, ok := of.(*ast.IndexExpr); ok {
			of = generic.X
		}
		if id, ok := of.(*ast.Ident); ok && (slices.Contains([]string{"Group", "Op"}, id.Name) || !id.IsExported()) {
			return true
		}
	}
	return slices.Contains([]string{"String", "Error", "Unwrap"}, fn.Name.Name) ||
		fn.Recv == nil && (fn.Type.Params.NumFields() == 0 || isOperation(fn))
}

// isOperation reports whether a function is an operation of collectives, such as Sum, which no
// program can call.
func isOperation(fn *ast.FuncDecl) bool {
	id, ok := fn.Type.Params.List[0].Type.(*ast.Ident)
	return ok && id.Name == "sealed"
}

// sources returns the files of a package, without its tests.
func sources(t *testing.T, dir string) []string {
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// TestEveryCallIsInTheTable: a cell calls each exported operation of comm, collectives and rma, by
// name.
func TestEveryCallIsInTheTable(t *testing.T) {
	called := map[string]bool{}
	for _, name := range sources(t, ".") {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				called[s.Sel.Name] = true
			}
			return true
		})
	}
	operations := 0
	for _, pkg := range []string{"../../../../comm", "../../../../collectives", "../../../../rma"} {
		for _, name := range sources(t, pkg) {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || !fn.Name.IsExported() || value(fn) {
					continue
				}
				operations++
				if !called[fn.Name.Name] && notInTable[fn.Name.Name] == "" {
					t.Errorf("%s of %s is in no cell", fn.Name.Name, filepath.Base(pkg))
				}
			}
		}
	}
	if operations < 60 {
		t.Errorf("only %d operations were found", operations)
	}
}
