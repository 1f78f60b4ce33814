// Package moving proves the recipes of docs/migrating.md with the libraries themselves. It records cassettes, turns
// them into records, and replays the tests without the cassettes.
package moving
