package modelio

import "github.com/traceforge/traceforge-go/canon"

// A coreQueue gives interactions to a coreHash, which works on a goroutine of its own: reading
// a session and hashing its core take about as long.
type coreQueue struct {
	core  *coreHash
	batch *coreBatch // being filled
	full  chan *coreBatch
	empty chan *coreBatch // as many as there are batches, so that no send to it waits
}

// A coreBatch is some interactions in a row.
type coreBatch struct {
	contents     []byte // the characters of their response contents, one after the other
	interactions []coreInteraction
}

type coreInteraction struct {
	promptHash   canon.Hash
	responseHash canon.Hash
	end          int // of its response content in contents
}

const (
	coreBatches   = 3
	coreBatchSize = 64 << 10 // a batch is full when it has as many bytes
)

// newCoreQueue returns a queue to core. It must be closed.
func newCoreQueue(core *coreHash) *coreQueue {
	q := &coreQueue{core: core, full: make(chan *coreBatch), empty: make(chan *coreBatch, coreBatches)}
	for range coreBatches - 1 {
		q.empty <- &coreBatch{}
	}
	q.batch = &coreBatch{}
	go q.work()
	return q
}

func (q *coreQueue) work() {
	defer close(q.empty)
	i := 0
	for batch := range q.full {
		start := 0
		for _, in := range batch.interactions {
			q.core.interaction(i, in.promptHash, batch.contents[start:in.end], in.responseHash)
			start = in.end
			i++
		}
		batch.contents, batch.interactions = batch.contents[:0], batch.interactions[:0]
		q.empty <- batch
	}
}

// content adds to the response content of the next interaction.
func (q *coreQueue) content(chars []byte) {
	q.batch.contents = append(q.batch.contents, chars...)
}

// interaction adds the next interaction.
func (q *coreQueue) interaction(promptHash, responseHash canon.Hash) {
	b := q.batch
	b.interactions = append(b.interactions, coreInteraction{promptHash, responseHash, len(b.contents)})
	if len(b.contents) >= coreBatchSize || len(b.interactions) >= coreBatchSize/256 {
		q.full <- b
		q.batch = <-q.empty
	}
}

// close waits until core has all interactions.
func (q *coreQueue) close() {
	q.full <- q.batch
	close(q.full)
	for range q.empty {
	}
}
