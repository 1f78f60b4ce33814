// Package page shows conversations with models, the differences between two recordings of them, and the causes of
// these. It writes text, Markdown, and an HTML page.
//
// Recordings come from a network. The output contains only printable characters: control characters, and characters
// that hide or reorder text, are escaped.
//
// Changes are processed in steps: change.go finds the documents that differ, comparison.go compares their calls,
// causes.go groups the changes by cause, and block.go combines causes of the same calls. Then block_text.go and
// section.go print text, comparison_markdown.go Markdown, and html.go an HTML page. conversation.go and document.go
// print calls without a comparison.
package page
