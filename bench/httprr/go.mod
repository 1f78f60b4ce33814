module github.com/tmc/langchaingo/traceforgebench

go 1.25.0

require github.com/tmc/langchaingo v0.1.14
