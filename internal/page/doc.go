// Package page shows people conversations with models, how two recordings of them differ, and by which causes: as text,
// as Markdown, and as a page for a browser.
//
// Recordings came from a network. Only printable characters reach out: control characters, and those that hide or
// reorder text, are escaped.
//
// What changed goes one way: change.go finds the documents that differ, comparison.go compares their calls, causes.go
// groups the changes by cause, and block.go puts causes of the same calls together. From there block_text.go,
// section.go and unfold.go print text, comparison_markdown.go Markdown, and html.go a page. conversation.go and
// document.go print calls that are compared with nothing.
package page
