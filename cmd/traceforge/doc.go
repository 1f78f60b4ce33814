// Command traceforge records, checks, shows, compares and packs the snapshots of model calls that
// tests make with package traceforgetest.
//
//	traceforge init [--json] [--git [--command COMMAND]] [DIR]
//	traceforge update [--new] [--json] [-run REGEXP] [PACKAGE…] [-- FLAG…]
//	traceforge verify [--json] [--receipt DIR] [DIR]
//	traceforge report [--markdown|--json] --receipt DIR [DIR]
//	traceforge prune [--write] [--json] [--receipt DIR|--blobs] [--dir DIR] [-- FLAG…]
//	traceforge diff [--json] [--dir DIR] [FROM [TO]]
//	traceforge show [--json] [--dir DIR] ID
//	traceforge manifest [--json] [DIR]
//	traceforge migrate --from V --to V [--json] [DIR|FILE…]
//	traceforge git textconv FILE
//	traceforge git merge-manifest BASE OURS THEIRS
//	traceforge pack [--json] [--package PATH] [--dir DIR] -o DIR TEST
//	traceforge pack verify DIR
//	traceforge modelio verify [--no-response-hashes] [--no-size-limits] FILE…
//	traceforge modelio hash FILE
//
// traceforge help says what each does, and traceforge help COMMAND how. Standard output has
// the answer, standard error what is said beside it. The exit code is 0 where all is well, 1
// where something was found, and 2 where the command was called wrongly or could not read or
// write; the modelio commands have those of the reference verifier of MIO.
//
// What was recorded came from a network. It reaches a terminal only with its control
// characters, and those that hide or reorder text, escaped.
package main
