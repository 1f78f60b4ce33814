// Command traceforge records, checks, shows, compares and packs the snapshots of model calls that tests make with
// package traceforgetest.
//
//	traceforge verify [--receipt DIR] [TEST…]
//	traceforge show [--sf] TEST
//	traceforge diff [FROM [TO]]
//	traceforge review [--accept ID] [--reject ID]
//	traceforge report --receipt DIR
//	traceforge init [--git]
//	traceforge update [TEST…] [PACKAGE…] [-- FLAG…]
//	traceforge prune [--write] [-- FLAG…]
//	traceforge repair [--theirs ID]
//	traceforge pack -o DIR TEST
//	traceforge modelio verify FILE…
//
// traceforge help lists all commands and describes each. The answer goes to standard output, everything else to
// standard error. The exit code is 0 if all is well, 1 if something was found, and 2 if the command was called wrongly
// or could not read or write. The modelio commands use the exit codes of the reference verifier of Model IO.
//
// Recordings come from a network. Before they reach a terminal, control characters and characters that hide or reorder
// text are escaped.
package main
