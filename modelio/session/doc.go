// Package session is the model_io sessions (MIO): logs of the calls to a model, as one file
// model_io.json. It records one ([Record]), replays it ([Replay]), verifies it ([Verify]) and hashes
// it ([Session.Hash]).
//
// # Strings
//
// MIO computes its hashes as JavaScript does, and JavaScript's strings may hold lone surrogates. They
// are kept: see [Session]. A session that says the same has the same hash, however it is spelled.
package session
