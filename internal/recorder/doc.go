// Package recorder stands between a program and the models it calls. It answers calls from the document of one test
// (replay), or makes them and records them (update), and says what differs. It knows nothing of go test: package
// traceforgetest is its public side there.
//
// A request passes these steps, under the same name in each:
//
//	bytes -> a codec of internal/provider -> modelio.Request -> ids numbered, media named,
//	      scrubbed values replaced -> its key (provider, lane, and the hash of its core and of what it ignores)
//	      -> the record of the test's document
//
// The same code identifies a call for recording and for replay, so that a recorded call is found again. No stored value
// identifies a call: keys of recorded requests are computed when a call needs them. A replayed call that equals its
// record as it was sent needs no key.
//
// To follow a call, read the files in this order:
//
//	recorder.go, wire.go, call.go, mode.go       a request comes in, gets its key, and asks the sources of its mode
//	tape.go, replay.go, proof.go                 a record answers it, and is proven
//	drift.go, failure.go, report.go, words.go    no record does: what differs, in which words, and what accepts it
//	update.go, live.go, take.go, transport.go    it is made live, and its answer is kept as its caller reads it
//	record.go, pair.go, commit.go, pending.go    takes become records of the test's document, or wait
//
// Each other file has one subject: tools and turns of agents, realtime and MCP sessions, models without HTTP, lanes,
// scripts, faults, checks.
//
// The facts about a test are in layers. Each layer sees the ones above it in this list, and none below:
//
//	setup     the recorder's options and store; it does not change
//	run       the state of the calls: the tape and its progress, the takes, the faults
//	report    why the test fails, and in which words
//	pending   the answers bought for a test that has not passed
//	revision  the new state of the test's document
//	notes     the last lines of the test's log
//
// A [Recorder] has one of each, and takes calls in. Checks and sessions stand beside them: they see the run and its
// report, and have their own locks.
package recorder
