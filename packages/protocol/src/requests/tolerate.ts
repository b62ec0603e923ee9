/**
 * Converts requests as clients really send them into the documented form before validation: text instead of a list of parts, a bare
 * value instead of a secret source. Unknown forms are left for the validation to reject. Arguments are not modified.
 */

/** Content as plain text, null, or with bare texts among its parts. */
export function tolerateMessage(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { content } = body;
  if (typeof content === "string") return { ...body, content: content === "" ? [] : [textPart(content)] };
  if (content === null) return { ...body, content: [] };
  if (!Array.isArray(content)) return body;
  const parts: unknown[] = content;
  return { ...body, content: parts.map((part) => (typeof part === "string" ? textPart(part) : part)) };
}

/**
 * Tolerates an initial message like other messages, and secrets like updates of secrets. Unlike later messages, the first one starts
 * a run by default.
 */
export function tolerateStartConversation(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { initial_message: message } = body;
  const given = typeof message === "string" ? { content: message } : message;
  const tolerated = tolerateMessage(given);
  return {
    ...body,
    ...(message === undefined
      ? {}
      : { initial_message: isObject(tolerated) ? { run: true, ...tolerated } : tolerated }),
    ...(body["secrets"] === undefined ? {} : { secrets: tolerateSecrets(body["secrets"]) }),
  };
}

/** Secrets given as plain text, or as an object without a kind. */
export function tolerateUpdateSecrets(body: unknown): unknown {
  return isObject(body) ? { ...body, secrets: tolerateSecrets(body["secrets"]) } : body;
}

function tolerateSecrets(secrets: unknown): unknown {
  if (secrets === null) return {};
  if (!isObject(secrets)) return secrets;
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, tolerateSecret(secret)]));
}

function tolerateSecret(secret: unknown): unknown {
  if (typeof secret === "string") return { kind: "StaticSecret", value: secret };
  if (!isObject(secret) || "kind" in secret) return secret;
  if ("value" in secret) return { ...secret, kind: "StaticSecret" };
  return "url" in secret ? { ...secret, kind: "LookupSecret" } : secret;
}

function textPart(text: string) {
  return { type: "text", text };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The form of {@link tolerateStartConversation} whose secrets are plain texts: only its message is read. */
export function tolerateInitialMessage(body: unknown): unknown {
  if (typeof body !== "object" || body === null || !("initial_message" in body)) return body;
  const { initial_message } = body;
  const tolerated = tolerateStartConversation({ initial_message }) as { initial_message: unknown };
  return { ...body, initial_message: initial_message === null ? null : tolerated.initial_message };
}
