import { readServers } from "./read-servers.ts";

/** Words, numbers, places and addresses without credentials: hiding them would only damage what tools say. */
const plain = /^(?:[a-z]+|[\d.]{1,6}|[~.]?\/[\w./-]*|https?:\/\/[^\s@?]*)$/i;
const harmlessHeaders = new Set(["accept", "accept-language", "content-type", "user-agent"]);

/** The values of a configuration that nobody may read in an event, a result or a message. */
export function hiddenValues(config: unknown): string[] {
  const values = readServers(config, []).servers.flatMap((server): string[] => {
    if (server.transport === "stdio") return Object.values(server.env).filter((value) => !plain.test(value));
    const headers = Object.entries(server.headers).filter(
      ([name]) => !harmlessHeaders.has(name.toLowerCase()),
    );
    const credentials = headers.flatMap(([, value]) => [
      value,
      value.replace(/^(?:Bearer|Basic|Token)\s+/i, ""),
    ]);
    return [
      ...credentials,
      ...textsIn(server.oauth?.state),
      ...textsIn(server.oauth?.authentication["client_secret"]),
    ];
  });
  return [...new Set([...values, ...passwordsIn(config)])].filter((value) => value.trim() !== "");
}

/** A password goes over the wire inside a longer text, but may be said alone. */
function passwordsIn(config: unknown): string[] {
  if (typeof config !== "object" || config === null) return [];
  return Object.entries(config).flatMap(([key, value]) =>
    key === "password" && typeof value === "string" ? [value] : passwordsIn(value),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.length >= 12 && !plain.test(value) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
