// Package session records ([Record]), replays ([Replay]), verifies ([Verify]) and hashes ([Session.Hash]) model_io
// sessions (MIO). A session is a log of the calls to a model, a file model_io.json.
//
// # Strings
//
// MIO computes its hashes as JavaScript does, and JavaScript's strings may hold lone surrogates. They
// are kept: see [Session]. A session that says the same has the same hash, however it is spelled.
package session
