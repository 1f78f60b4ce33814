// Package documented holds the lines of code in docs/sdks.md, to prove that they compile. It has only tests.
package documented
