// Command traceforge checks, shows and packs the snapshots of model calls that tests recorded
// with package traceforgetest.
//
//	traceforge verify [--json] [DIR]
//	traceforge show [--json] [--dir DIR] ID
//	traceforge manifest [DIR]
//	traceforge migrate --from V --to V [DIR|FILE…]
//	traceforge pack [--package PATH] [--dir DIR] -o DIR TEST
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
