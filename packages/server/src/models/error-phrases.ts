/**
 * What providers write when they reject a request for its content. Status codes do not tell these cases apart, so the
 * words must. Collected from the error texts of OpenAI, Anthropic, Google, Mistral, xAI, Moonshot, Z.ai, Groq,
 * OpenRouter, Bedrock behind gateways, vLLM, llama.cpp and LM Studio; of DashScope, TGI, Cohere, Vertex, watsonx, GitHub Models,
 * SiliconFlow, DeepInfra, TensorRT-LLM, MLC, TabbyAPI, ERNIE, Doubao, Hunyuan and Spark.
 */
export const overflowPhrases: readonly RegExp[] = [
  /context[_ ]length[_ ]exceeded|exceed_context_size/iu,
  /maximum (?:context|prompt) length|max(?:imum)? (?:number of )?input tokens/iu,
  /(?:exceed\w*|beyond|larger than|longer than|greater than|over) .{0,60}(?:context (?:window|length|size|limit)|context)/iu,
  /context (?:window|length|size|limit) .{0,40}(?:exceed|overflow|reached|too small)/iu,
  /(?:prompt|input|request|message|conversation) (?:is|was) too (?:long|large)|input .{0,20}too long/iu,
  /(?:prompt|input) (?:exceeds|token count).{0,60}(?:max|exceeds|limit)/iu,
  /reduce the length of (?:the|your) (?:messages|prompt|input)/iu,
  /exceed\w* (?:the )?model('s)? (?:token|context) limit|too many (?:input )?tokens in (?:the )?(?:prompt|input)/iu,
  /request_too_large|too large for model with \d+|tokens_limit_reached/iu,
  /range of input length should be/iu,
  /(?:prompt|input|sequence)s?`? (?:tokens?|length) .{0,60}(?:must be <|must be less|less than or equal|cannot exceed|exceed|greater than|larger than|over)/iu,
  /\binputs?`? (?:tokens )?(?:\+|must have less than) .{0,60}tokens?/iu,
  /(?:total number of tokens|number of (?:input|prompt) tokens|total tokens|prompt_tokens).{0,80}(?:exceed|limit|must be less|max)/iu,
  /max_(?:seq_len|model_len|input_tokens?|prompt_tokens|position_embeddings|message_tokens)\b.{0,40}\d|(?:model )?input length limit/iu,
  /(?:input )?token count is \d+ but|only supports up to \d+ (?:input )?tokens/iu,
  /max(?:imum)? input (?:chars|characters|tokens?|length)|expected maxLength: \d+/iu,
  /(?:prompt|input|context|tokens?)\b.{0,40}exceeds? (?:the )?max(?:imum)? (?:length|tokens?|number of tokens|message tokens|prompt length|input length)/iu,
  /(?:输入|上下文|提示|prompt|token).{0,20}(?:超过|超出|超长|过长)|(?:超过|超出).{0,12}(?:上下文|最大长度|长度限制)/iu,
  // Anthropic, LM Studio, Fireworks, vLLM, Cohere; Google and proxies about the size of the body.
  /too many total text bytes|keep the first \d+ tokens|too many tokens|token limit exceeded/iu,
  /tokens in (?:the )?request .{0,20}more than|longer than the maximum (?:model|sequence|context) length/iu,
  /(?:payload|body|content)(?: size)? (?:is )?(?:exceeds|too large)/iu,
];

/** What a provider writes with a status of its rate limits where one request alone is beyond them: waiting does not help. */
export const overflowOfRate = /request too large|tokens must be reduced/iu;

/**
 * What providers write about the tools that are offered: their schemas and names. It is no fault of the history, also where a sentence
 * sounds like one.
 */
export const toolPhrases: readonly RegExp[] = [
  /look-?(?:around|ahead|behind)|json[ _-]?schema|input_?schema|invalid schema|schema for (?:function|tool)/iu,
  /(?<!messages?.{0,60})\btools?["']?\s*[.[]\s*\d+|function_?declarations?\s*[.[]/iu,
];

export const malformedHistoryPhrases: readonly RegExp[] = [
  /tool_use.{0,80}(?:without|tool_result)|tool_result.{0,80}(?:without|unexpected|tool_use)/isu,
  /unexpected `?tool_use_id/iu,
  /tool_call_ids? (?:did not|that did not)|must be followed by tool messages/iu,
  /role '?tool'? must be a response|tool message.{0,40}(?:preceding|previous|must follow)/iu,
  /number of function response parts|function (?:call|response) turn/iu,
  /invalid (?:json|arguments).{0,40}(?:tool|function)|(?:tool|function).{0,60}(?:invalid json|not valid json)/iu,
  /(?:unterminated string|failed to parse|can(?:not|'t) parse).{0,60}(?:argument|tool|function)/iu,
  /expected `?thinking|thinking.{0,60}(?:cannot be modified|must start|signature)|invalid `?signature/iu,
  /roles? must alternate|conversation roles/iu,
  /content (?:blocks? )?must (?:be|contain) non-?empty|content must not be empty|content field is required/iu,
  /duplicate.{0,40}tool|tool.{0,20}ids? must be unique/iu,
  /(?:could not process|invalid|unsupported|failed to (?:decode|download|load)).{0,20}image|image.{0,60}(?:invalid|not (?:be )?(?:valid|supported|processed)|exceeds|too large|could not)/iu,
  // Images: of another type than declared, broken, too large, too many, not to be fetched, or not for this model.
  /image.{0,80}(?:does not match|cannot|can't|not (?:a )?valid|dimensions?|exceed|at most|provided in|not support)/iu,
  /(?:unable to|cannot|can't|could not|failed to|error while|not able to) .{0,30}(?:image|picture|download)/iu,
  /(?:support|too many|at most \d+|number of|count of) .{0,12}(?:image|picture|vision|media)|mmproj/iu,
];

/** A router's words where none of its models sees images; its status is that of an unknown address. */
export const blindPhrase = /support image/iu;

export const contentPolicyPhrases: readonly RegExp[] = [
  /content[_ ](?:filter|policy|management policy)|responsible ?ai/iu,
  /violat\w+ .{0,40}(?:polic|terms|usage)|prohibited_content|flagged as|safety system/iu,
];

export const keyPhrases: readonly RegExp[] = [
  /(?:invalid|incorrect|missing|no|expired|not valid).{0,30}(?:api[- _]?key|x-api-key|credentials|auth)/iu,
  /api[- _]?key.{0,30}(?:invalid|not valid|not found|missing|expired|required)/iu,
  /authentication_error|unauthorized|unauthenticated|permission_denied/iu,
];

export const quotaPhrases: readonly RegExp[] = [
  /insufficient[_ ](?:quota|balance|credits?|funds)|credit balance|billing|exceeded your (?:current )?quota/iu,
  /(?:out of|not enough|no) credits?|payment required|spend(?:ing)? limit/iu,
];

/** A server that has too much to do, whatever its status says. */
export const busyPhrase =
  /overloaded|(?:currently|temporarily) (?:unavailable|busy)|(?:model|server) is (?:still )?loading/iu;
