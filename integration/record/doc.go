// Package record proves that what a provider's SDK gets in replay is what it got while
// recording. It has tests only.
package record
