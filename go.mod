module github.com/traceforge/traceforge-go

go 1.25

require (
	github.com/rogpeppe/go-internal v1.12.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.1
	github.com/sebdah/goldie/v2 v2.5.3
	github.com/stretchr/testify v1.8.0
	go.yaml.in/yaml/v3 v3.0.2
	gopkg.in/yaml.v3 v3.0.1
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/sergi/go-diff v1.0.0 // indirect
	golang.org/x/sys v0.5.0 // indirect
	golang.org/x/text v0.14.0 // indirect
	golang.org/x/tools v0.6.0 // indirect
)
