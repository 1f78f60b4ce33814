// Package contract calls models of any provider through one contract (LC). A call is described by [GenerateParams], its
// outcome by a [GenerateReceipt], and the model's answer by an [OutputEnvelope].
//
// The one thing to know: params and receipts contain no content, only its hashes, and everything they refer to is in
// the snapshot store. Give the [Adapter] a [Store] and the client of a recorder. The recorder keeps the calls in
// .ai-snapshots, and the store derives every blob from them, even after the program has ended and for failed calls.
// Nothing is stored twice.
//
// # Terminology
//
// Params are everything that determines one call: the provider, the model, the messages, and the runtime args that tune
// it. They refer to content by its hash. [GenerateParams.Hash] tells whether two params describe the same call.
//
// A ref is the sha256 hash of a blob, which is content in a [CAS] such as a [Store]. A blob is checked against its ref
// whenever it is read. The journal of a test is the params and receipts of its calls: [Store.Journal].
//
// The params of a journal are derived from the request, which they make again. They have the hash of the program's
// params unless these say the same in another form than the request: a tool's result that is no text, results of
// several calls in other messages than the API has for them, the type of a medium at a URL, other refs than call_1,
// call_2, an empty list, a provider option that the params have a member for, or a decimal that JSON spells shorter
// (0.20). A request also does not show provider options of other providers and, for Anthropic's API, that the format is
// text, whether strict was set, for which it has no member, and whether max_tokens was set, which it requires.
//
// A run is the time in which a session's calls go to one provider and model. [Start] begins it, with a config that
// cannot change. A step is one call within a run: [Materialize] makes its params from the run's config and the
// [StepContext].
//
// The adapter makes the call: [Adapter.Generate]. A receipt describes the outcome. The envelope is the normalized
// output that output_ref refers to; the raw output is the provider's own bytes that raw_output_ref refers to.
//
// # JSON
//
// All types have LC's member names. An option that is not set is written as null; when read it may be null or absent.
// Unknown and repeated members are errors, and an [*Error] lists everything that is wrong, each with its pointer.
// Decimals are texts, kept as they are written. A value of a sum type is {"$tag":…,"$value":…}.
//
// # Blobs
//
// JSON blobs are canonical, as [PutJSON] writes them. A blob that is not canonical is not read as JSON, so that no
// value has two refs.
//
//   - A message (message_refs) is an object with content, role and, if there is any, metadata: see [PutMessage]. Refs
//     of tool calls are sent to the provider unchanged. A message of [Adapter.Reply] names its model in the metadata as
//     $model, if it has parts that no other model accepts: another model is sent only the texts and tool calls.
//   - A tool (tool_refs) is one GK tool definition: [modelio.ToolDefinition].
//   - A response format (response_format_ref) is a [ResponseFormat].
//   - Provider options (provider_options_ref) are members of the request's body, by the home
//     provider of the API: {"openai":{"seed":7},"anthropic":{"top_k":3}}. They may add to the
//     params but not contradict them. The options of other providers are ignored.
//   - An envelope (output_ref), the list of its tool calls (tool_calls_ref), their arguments
//     (arguments_ref) and warnings (warnings_ref) are JSON. Reasoning (reasoning_ref) is text; the
//     raw output (raw_output_ref) is what the provider sent.
//
// # What is sent
//
// Only what the params set is sent. The exceptions are max_tokens for Anthropic, which has no default for it
// ([AnthropicMaxTokens]), and the member that makes a stream report its token counts. Params that an API has no member
// for are [ErrUnsupported] before the call: stop sequences of OpenAI responses, metadata of the params or of a part
// that the API does not accept, custom parts, media of other kinds, and thinking without its signature.
//
//	                   openai.chat        openai.responses    anthropic.messages
//	max_tokens         max_tokens         max_output_tokens   max_tokens
//	tool_choice        tool_choice        tool_choice         tool_choice
//	reasoning_effort   reasoning_effort   reasoning.effort    output_config.effort
//	response format    response_format    text.format         output_config.format
//	stop_sequences     stop               none                stop_sequences
//	metadata           with store: true   metadata            user_id only
//
// OpenAI's reasoning models accept no max_tokens in chat completions: leave it unset and set max_completion_tokens in
// the provider options.
//
// # Secrets
//
// Params name an API key by a [SecretRef]; a literal key in params is [ErrLiteralKey], because params are stored. The
// key is sent in the request's header and is never stored: an answer that contains it is [ErrKeyEchoed].
//
// # Determinism
//
// The same config and step give the same params, the same params and blobs give the same request, and the same answer
// gives the same receipt, streamed or not, except for its raw bytes. Recordings of the same behavior differ in
// provider_response_id, raw_output_ref, the token counts and provider_call_id, none of which a caller needs to branch
// on; call_id is counted (design R8). Signed or encrypted reasoning changes too, and with it the ref of the message
// that [Adapter.Reply] stores.
package contract
