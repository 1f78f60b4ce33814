// Package suite measures what a suite has before and after it moves: two suites of 40 tests that make 150 calls, of which
// requests and answers are recorded traffic of providers, written for go-vcr and for httprr, and moved by the recipe of
// docs/migrating.md. It makes the table there:
//
//	go test ./suite -run TestTable -v
package suite
