.PHONY: demo test check fuzz bench update images

demo: export GOFLAGS = -mod=readonly
demo: export GOWORK = off
demo: ## record, replay, drift, accept, review, on the embedded fake provider
	go run ./internal/demo

test: ## the tests of every module
	./.ci/test

check: ## what CI checks besides the tests
	./.ci/check

fuzz: ## each fuzz target, guided by coverage; FUZZTIME=100000x for longer
	./.ci/check fuzz

bench: ## what traceforge costs beside its limits and peers, as the table of docs/performance.md
	go -C bench test . -run '^$$' -bench . -benchtime 5x -timeout 60m -table -page ../docs/performance.md

update: ## record our own snapshots again
	go run ./internal/demo/fake go test ./traceforgetest -run '^(TestOwnStore|TestSummarize)$$' -update

images: ## take the images of the README: what commands print in a terminal, and a page that the command wrote of real changes
	go -C cmd/traceforge test . -count=1 -run '^TestPicture$$' -picture
	go -C integration test ./browser -count=1 -run '^TestReview$$/^image$$' -images "$(CURDIR)/docs/images"
