// Package fields reads and writes JSON objects by the tags of Go structs, so that one list of members serves readers,
// writers and schemas.
//
//	Role     string   `json:"role"`                     // required
//	Ref      string   `json:"ref,omitzero"`             // may be absent; left out where it is zero
//	Limit    *int64   `json:"limit"`                    // may be absent or null
//	Messages []string `json:"messages" is:"required"`   // required, though it can be nil
//	Model    string   `json:"model" is:"name"`          // read by the reading "name" of the format
//	Unknown  Object   `is:"unknown"`                    // keeps the members that no other field keeps
//
// Members are read and written sorted by name. A struct without a field for unknown members refuses them. One with
// such a field keeps there, as they are spelled, also members that are null, and members that would leave their
// field zero and may be absent: so no text is lost.
package fields
