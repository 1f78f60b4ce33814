module github.com/traceforge/traceforge-go

go 1.25
