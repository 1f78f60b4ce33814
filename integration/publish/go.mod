module github.com/traceforge/traceforge-go/integration/publish

go 1.25.0

replace github.com/traceforge/traceforge-go => ../../

require (
	github.com/rogpeppe/go-internal v1.16.0
	github.com/stretchr/testify v1.12.1
	github.com/traceforge/traceforge-go v0.0.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.26.0 // indirect
	golang.org/x/tools v0.26.0 // indirect
)
