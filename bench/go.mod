module github.com/traceforge/traceforge-go/bench

go 1.25.0

replace github.com/traceforge/traceforge-go => ../

require (
	github.com/traceforge/traceforge-go v0.0.0
	gopkg.in/dnaeon/go-vcr.v4 v4.0.7
)

require github.com/tmc/langchaingo v0.1.14 // indirect

require (
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/tmc/langchaingo/traceforgebench v0.0.0
	go.yaml.in/yaml/v4 v4.0.0-rc.6 // indirect
)

replace github.com/tmc/langchaingo/traceforgebench => ./httprr
