// Package moving proves the recipes of docs/migrating.md with the libraries themselves: cassettes that they record here become
// records, and their tests replay without them.
package moving
