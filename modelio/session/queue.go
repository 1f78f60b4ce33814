package session

// A coreQueue gives interactions to a coreHash, which works on a goroutine of its own: where there are
// two processors, hashing the core of a session takes no time beside reading it.
type coreQueue struct {
	core  *coreHash
	batch *coreBatch // being filled
	full  chan *coreBatch
	empty chan *coreBatch // with room for all batches, so that no send to it waits
}

// A coreBatch is some interactions in a row. Their strings follow each other in text.
type coreBatch struct {
	text         []byte
	interactions []coreInteraction
}

// A coreInteraction tells where the strings of an interaction end in the text of its batch.
type coreInteraction struct{ content, promptHash, responseHash int }

const (
	coreBatches   = 3
	coreBatchSize = 64 << 10 // a batch is full when its text has as many bytes
)

// newCoreQueue returns a queue to core. It must be closed.
func newCoreQueue(core *coreHash) *coreQueue {
	q := &coreQueue{
		core:  core,
		batch: &coreBatch{},
		full:  make(chan *coreBatch),
		empty: make(chan *coreBatch, coreBatches),
	}
	for range coreBatches - 1 {
		q.empty <- &coreBatch{}
	}
	go q.work()
	return q
}

func (q *coreQueue) work() {
	defer close(q.empty)
	i := 0
	for batch := range q.full {
		start := 0
		for _, end := range batch.interactions {
			content := batch.text[start:end.content]
			promptHash := batch.text[end.content:end.promptHash]
			responseHash := batch.text[end.promptHash:end.responseHash]
			q.core.interaction(i, promptHash, content, responseHash)
			start = end.responseHash
			i++
		}
		batch.text, batch.interactions = batch.text[:0], batch.interactions[:0]
		q.empty <- batch
	}
}

// content adds to the response content of the next interaction.
func (q *coreQueue) content(canonical []byte) { q.batch.text = append(q.batch.text, canonical...) }

// interaction adds the next interaction, whose response content was added before.
func (q *coreQueue) interaction(promptHash, responseHash []byte) {
	b := q.batch
	var end coreInteraction
	end.content = len(b.text)
	b.text = append(b.text, promptHash...)
	end.promptHash = len(b.text)
	b.text = append(b.text, responseHash...)
	end.responseHash = len(b.text)
	b.interactions = append(b.interactions, end)
	if len(b.text) >= coreBatchSize {
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
