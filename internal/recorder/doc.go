// Package recorder stands between a program and the models it calls. It answers calls from the
// document of one test (replay), or makes them and records them (update), and says what differs.
// It knows nothing of go test: package traceforgetest is its face there.
//
// A request goes one way, and is not renamed on it:
//
//	bytes -> a codec of internal/provider -> modelio.Request -> ids numbered, media named
//	      -> its key (provider and the hash of its core) -> the record of the test's document
//
// The same code identifies a call for recording and for replay, so that what was recorded is found
// again. Nothing that is stored identifies a call: keys of recorded requests are computed when the
// document is read.
package recorder
