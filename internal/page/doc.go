// Package page shows people conversations with models, how two recordings of them differ, and by which causes: as text,
// as Markdown, and as a page for a browser.
//
// Recordings came from a network. Only printable characters reach out: control characters, and those that hide or
// reorder text, are escaped.
package page
