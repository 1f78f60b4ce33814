// Package schemas holds the JSON Schemas (2020-12) of what traceforge writes: document.json is that of a document. They
// are made from the code that reads these texts; see internal/schematest.
package schemas

import "embed"

// Files are the schemas, each <name>.json.
//
//go:embed *.json
var Files embed.FS
