// Package fields reads and writes JSON objects according to the tags of Go structs, so that readers, writers and
// schemas share one list of members.
//
//	Role     string   `json:"role"`                     // required
//	Ref      string   `json:"ref,omitzero"`             // may be absent; left out if it is zero
//	Limit    *int64   `json:"limit"`                    // may be absent or null
//	Messages []string `json:"messages" is:"required"`   // required, though it can be nil
//	Model    string   `json:"model" is:"name"`          // read by the reading "name" of the format
//	Unknown  Object   `is:"unknown"`                    // keeps the members that no other field keeps
//
// Members are read and written sorted by name. A struct without a field for unknown members refuses them. A struct with
// such a field keeps unknown members as they are spelled. To lose no text, it also keeps members that are null, and
// optional members whose value would leave their field zero.
//
// Two formats have coders of their own: snapshots, since they are on the hot path, and sessions, whose lone surrogates,
// repeated names and unknown members would each need a hook.
package fields
