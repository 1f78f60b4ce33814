// Package audit looks at a whole store and repairs it: what the command does, and no test of a user's links. It verifies
// documents and the manifest, which it derives, removes what no document names, merges what git left in conflict, and
// takes pending answers over.
package audit
