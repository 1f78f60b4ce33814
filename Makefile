.PHONY: demo test check bench update images

demo: ## record, replay, drift, accept, on the embedded fake provider
	go run ./internal/demo

test: ## the tests of every module
	./.ci/test

check: ## what CI checks besides the tests
	./.ci/check

bench: ## what traceforge costs beside its limits and peers, as a table
	go -C bench test . -run '^$$' -bench . -benchtime 5x -timeout 60m -table

update: ## record our own snapshots again
	go test ./traceforgetest -run '^TestOwnStore' -update

images: ## take the images of the documents, of pages that the command wrote of real changes
	go -C integration test ./browser -count=1 -run '^TestReview$$/^image$$' -images "$(CURDIR)/docs/images"
