/** Differences between our document of the app-server face and the reference's, with reasons. The pattern matches `<where> <what>`. */
export const appServerDifferences: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  {
    pattern: / (404|409|410|413|429|503)$/,
    reason: "Answered there too, but not documented there.",
  },
  {
    pattern: / query (id|ids)$/,
    reason: "More than 100 ids are refused here as there; without `ids` the list of conversations is a page.",
  },
  {
    pattern: /^GET \/api\/v1\/app-conversations (200|query (?!ids$).*)$/,
    reason: "The contract asks for a list; the batch read of the reference is on the same path.",
  },
  {
    pattern: /^SandboxSpecInfo (isolation|description|runtime)$/,
    reason: "Says whether a sandbox is a wall, and what it is for; the reference has containers alone.",
  },
  {
    pattern: /^AppConversationStartRequest-(Input|Output) sandbox_spec_id$/,
    reason: "Chooses a spec for one conversation; the reference has the user's setting alone.",
  },
  { pattern: / path conversation_id$/, reason: "An id that is no UUID names the field that is wrong." },
  {
    pattern: /^AppConversation(Start|Update)Request(-Input|-Output)? title$/,
    reason: "Titles have 1 to 200 characters here as on the other faces.",
  },
  {
    pattern: /^AppConversationStartRequest-(Input|Output) (processors|observability_metadata)$/,
    reason: "Not supported yet, so their shape is left open; what is sent is refused by name.",
  },
  {
    pattern: /^AppConversationSortOrder \(added\)$| query sort_order$/,
    reason: "The reference sorts in both directions inside, and does not show it.",
  },
  {
    pattern: /count query include_sub_conversations$/,
    reason: "A count and its search answer the same filter.",
  },
  { pattern: / query kind__eq$/, reason: "The same kinds in another order." },
  { pattern: /events 200$/, reason: "The union of events is named `Event` as on the agent-server face." },
  {
    pattern: /git\/(changes|diff) 200$/,
    reason: "The reference leaves the answer open; here it is described.",
  },
  { pattern: /download 200$/, reason: "It is a zip file, not JSON." },
  { pattern: /^GET \/api\/v1\/events\S* \(added\)$/, reason: "Paths of 2025, which clients still use." },
  {
    pattern: /^DELETE \/api\/v1\/sandboxes\/\{\w+\} \((added|absent)\)$/,
    reason: "The reference names the parameter of the path differently from what it reads.",
  },
  {
    pattern: /^(POST \/api\/v1\/sandboxes body|StartSandboxRequest \(added\))$/,
    reason: "The spec may come in a body too.",
  },
  {
    pattern: /^(POST \/api\/v1\/conversations\/\S+\/pending-messages body|PendingMessageRequest \(added\))$/,
    reason: "The reference reads this body without documenting it.",
  },
  {
    pattern: /^(SwitchAcpModelRequest \(added\)|POST \S+\/switch_acp_model 502)$/,
    reason:
      "The body has the name that the agent server's route has, and the agent runs where its answer is known.",
  },
  {
    pattern: /\/(hooks|skills|switch_profile|settings\/secrets(\/\S+)?) \(absent\)$/,
    reason: "Not there yet.",
  },
  {
    pattern: /^WhileRunning \(added\)$/,
    reason: "Part of the settings: what a message does while the agent works.",
  },
];
