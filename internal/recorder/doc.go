// Package recorder stands between a program and the models it calls. It answers calls from the
// document of one test (replay), or makes them and records them (update), and says what differs.
// It knows nothing of go test: package traceforgetest is its face there.
//
// A request goes one way, and is not renamed on it:
//
//	bytes -> a codec of internal/provider -> modelio.Request -> ids numbered, media named,
//	      what is scrubbed replaced -> its key (provider, lane, and the hash of its core and of what it ignores)
//	      -> the record of the test's document
//
// The same code identifies a call for recording and for replay, so that what was recorded is found
// again. Nothing that is stored identifies a call: keys of recorded requests are computed once a
// call needs them. A call in replay that is the same as its record as both stand needs none.
//
// To follow a call, read the files in this order:
//
//	recorder.go, wire.go, call.go, mode.go       a request comes in, gets its key, and asks the sources of its mode
//	tape.go, replay.go, proof.go                 a record answers it, and is proven
//	drift.go, failure.go, report.go, face.go     no record does: what differs, in which words, and what accepts it
//	live.go, take.go, transport.go               it is made live, and its answer is kept as its caller reads it
//	record.go, pair.go, commit.go, pending.go    takes become records of the test's document, or wait
//
// The other files each have one subject: tools and turns of agents, realtime and MCP sessions, models without HTTP,
// lanes, scripts, faults, checks.
//
// The facts about a test stand in layers. Each layer sees those above it in this list, and none below:
//
//	setup     what the recorder was given; it does not change
//	run       what calls have come to: the tape and what of it was played, the takes, the faults
//	report    why the test fails, and in which words
//	pending   what was bought for a test that has not passed
//	revision  what the run makes of the test's document
//	notes     what the test's log says at the end
//
// A [Recorder] is all of them, and takes calls in. Beside it are checks and sessions, which see the report of a run,
// and have locks of their own.
package recorder
