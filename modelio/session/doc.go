// Package session records ([Record]), replays ([Replay]), verifies ([Verify]) and hashes ([Session.Hash]) model_io
// sessions (MIO). A session is a log of calls to a model, stored as a file model_io.json.
//
// # Strings
//
// MIO computes its hashes as JavaScript does, whose strings may contain lone surrogates. They are kept: see [Session].
// Sessions with the same meaning have the same hash, however they are spelled.
package session
