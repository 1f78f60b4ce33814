// Package schemas holds the JSON Schemas (2020-12) of what traceforge writes: document.json is that of a document. Most
// are made by internal/schematest from the types of what they describe.
package schemas

import "embed"

// Files are the schemas, each <name>.json.
//
//go:embed *.json
var Files embed.FS
