// Package audit verifies and repairs complete stores: work of the command that no user's test links. It verifies
// documents and the manifest, derives the manifest, removes unused files, resolves merge conflicts, and takes pending
// answers over.
package audit
