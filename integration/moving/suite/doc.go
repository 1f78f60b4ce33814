// Package suite measures a suite before and after it moves to traceforge, and makes the table of docs/migrating.md.
// Two suites of 40 tests make 150 calls, whose requests and answers are recorded traffic of providers. One is written
// for go-vcr and one for httprr, and both are moved by the recipe of that page:
//
//	go test ./suite -run TestTable -v
package suite
