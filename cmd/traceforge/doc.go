// Command traceforge records, checks, shows, compares and packs the snapshots of model calls that
// tests make with package traceforgetest.
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
// traceforge help lists all of them and says what each does. Standard output has the answer,
// standard error what is said beside it. The exit code is 0 where all is well, 1 where something
// was found, and 2 where the command was called wrongly or could not read or write; the modelio
// commands have those of the reference verifier of Model IO.
//
// Recordings came from a network. They reach a terminal only with control characters, and those that hide or reorder
// text, escaped.
package main
