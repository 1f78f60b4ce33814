// Package documented holds the lines that docs/sdks.md tells users to write, so that they
// compile. It has tests only.
package documented
