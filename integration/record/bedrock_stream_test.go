package record_test

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
)

// A conversed joins the events of a stream into the blocks of a message. The SDK has no accumulator.
type conversed struct {
	blocks []types.ContentBlock

	use                    types.ToolUseBlock
	text, input            string
	thinking, signature    string
	isText, isUse, isThink bool
}

func (c *conversed) add(event types.ConverseStreamOutput) error {
	switch event := event.(type) {
	case *types.ConverseStreamOutputMemberContentBlockStart:
		if use, ok := event.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
			c.isUse, c.use = true, types.ToolUseBlock{Name: use.Value.Name, ToolUseId: use.Value.ToolUseId}
		}
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		switch delta := event.Value.Delta.(type) {
		case *types.ContentBlockDeltaMemberText:
			c.isText, c.text = true, c.text+delta.Value
		case *types.ContentBlockDeltaMemberToolUse:
			c.input += *delta.Value.Input
		case *types.ContentBlockDeltaMemberReasoningContent:
			c.isThink = true
			switch reasoning := delta.Value.(type) {
			case *types.ReasoningContentBlockDeltaMemberText:
				c.thinking += reasoning.Value
			case *types.ReasoningContentBlockDeltaMemberSignature:
				c.signature += reasoning.Value
			}
		}
	case *types.ConverseStreamOutputMemberContentBlockStop:
		return c.end()
	}
	return nil
}

// end makes a block of the events since the last one.
func (c *conversed) end() error {
	switch {
	case c.isUse:
		var input any
		if err := json.Unmarshal([]byte(c.input), &input); err != nil {
			return err
		}
		c.use.Input = document.NewLazyDocument(input)
		c.blocks = append(c.blocks, &types.ContentBlockMemberToolUse{Value: c.use})
	case c.isThink:
		c.blocks = append(c.blocks, &types.ContentBlockMemberReasoningContent{
			Value: &types.ReasoningContentBlockMemberReasoningText{
				Value: types.ReasoningTextBlock{Text: aws.String(c.thinking), Signature: aws.String(c.signature)},
			},
		})
	case c.isText:
		c.blocks = append(c.blocks, &types.ContentBlockMemberText{Value: c.text})
	}
	*c = conversed{blocks: c.blocks}
	return nil
}
