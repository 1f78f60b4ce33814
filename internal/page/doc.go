// Package page shows conversations with models, and how two of them differ, as text for people.
//
// Recordings came from a network. Only printable characters reach out: control characters, and those that hide or
// reorder text, are escaped.
package page
