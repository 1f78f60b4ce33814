// Package contract calls models of any provider by one contract (LC). A call is [GenerateParams], its outcome a
// [GenerateReceipt], and the model's answer an [OutputEnvelope].
//
// The one thing to know: params and receipts hold no content, only hashes of it, and all that they name is in the
// snapshot store. Give the [Adapter] a [Store] and the client of a recorder; the recorder keeps the calls in
// .ai-snapshots, the store derives every blob from them, also after the program has ended and of calls that failed, and
// nothing is stored twice.
//
// # Terminology
//
// Params are all that decides about one call: the provider, the model, the messages, and the
// runtime args that tune it. They name content by ref and hold none. [GenerateParams.Hash] says
// whether two params ask the same.
//
// A ref is the sha256 hash of a blob, which is content in a [CAS], such as a [Store]. A blob is checked
// against its ref whenever it is read. The journal of a test is the params and receipts of its calls: [Store.Journal].
//
// The params of a journal are derived from the request, and have the hash of those that the program had, except for
// what the request does not say: provider options of other providers, a decimal that JSON spells shorter (0.20), and of
// Anthropic's API that strict was set, for which it has no member, or that max_tokens was not, which it demands.
//
// A run is the time in which a session's calls go to one provider and model. [Start] begins it,
// with a config that cannot change. A step is one call within it: [Materialize] makes its params
// of the run's config and the [StepContext].
//
// The adapter makes the call: [Adapter.Generate]. A receipt says what came of it. The envelope is
// the normalized output that output_ref names, the raw output the provider's own bytes that
// raw_output_ref names.
//
// # JSON
//
// All types have LC's member names. An option that is not set is written as null; where it is
// read it may be null or absent. Unknown and repeated members are errors, and an [*Error] names
// all that is wrong, each with its pointer. Decimals are texts, kept as they are written. A value
// of a sum type is {"$tag":…,"$value":…}.
//
// # Blobs
//
// JSON blobs are canonical, as [PutJSON] writes them; another blob is not read as JSON, so that
// nothing has two refs.
//
//   - A message (message_refs) is an object with content, role and, if there is any, metadata: see [PutMessage]. Refs
//     of tool calls go to the provider as they are. A message of [Adapter.Reply] names its model in the metadata, as
//     $model, where it has parts that no other model takes: another one is sent the texts and tool calls alone.
//   - A tool (tool_refs) is one GK tool definition: [modelio.ToolDefinition].
//   - A response format (response_format_ref) is a [ResponseFormat].
//   - Provider options (provider_options_ref) are members of the request's body, by the home
//     provider of the API: {"openai":{"seed":7},"anthropic":{"top_k":3}}. They may add to what the
//     params say and not contradict it. The options of other providers are not looked at.
//   - An envelope (output_ref), the list of its tool calls (tool_calls_ref), their arguments
//     (arguments_ref) and warnings (warnings_ref) are JSON. Reasoning (reasoning_ref) is text; the
//     raw output (raw_output_ref) is what the provider sent.
//
// # What goes over the wire
//
// Only what params set is sent. The exceptions are max_tokens for Anthropic, which has no default for it
// ([AnthropicMaxTokens]), and what makes a stream count its tokens. A demand that an API has no member for is
// [ErrUnsupported] before the call: stop sequences of OpenAI responses, metadata of the params or of a part that it
// does not take, custom parts, media of other kinds, thinking without its signature.
//
//	                   openai.chat        openai.responses    anthropic.messages
//	max_tokens         max_tokens         max_output_tokens   max_tokens
//	tool_choice        tool_choice        tool_choice         tool_choice
//	reasoning_effort   reasoning_effort   reasoning.effort    output_config.effort
//	response format    response_format    text.format         output_config.format
//	stop_sequences     stop               none                stop_sequences
//	metadata           with store: true   metadata            user_id only
//
// OpenAI's reasoning models take no max_tokens in chat completions: leave it unset and name
// max_completion_tokens in the provider options.
//
// # Secrets
//
// Params name an API key by a [SecretRef]; a literal key in params is [ErrLiteralKey], since params
// are kept. The key goes into the header of the request and into nothing that is stored: an answer
// that holds it is [ErrKeyEchoed].
//
// # Determinism
//
// The same config and step give the same params, the same params and blobs the same request, and the same answer the
// same receipt, streamed or not, except for its raw bytes. Recordings of the same behaviour differ in
// provider_response_id, raw_output_ref, the token counts and provider_call_id, which no caller needs to branch on;
// call_id is counted (design R8). Signed or encrypted reasoning changes too, and with it the ref of the message that
// [Adapter.Reply] stores.
package contract
