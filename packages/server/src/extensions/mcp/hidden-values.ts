import { urlSecrets } from "../../security/url-secrets.ts";
import { readServers } from "./read-servers.ts";

/** Words, numbers, paths and URLs without credentials: masking them would only damage tool output. */
const plain = /^(?:[a-z]+|[\d.]{1,6}|[~.]?\/[\w./-]*|https?:\/\/[^\s@?]*)$/i;
const place = /^(?:[\d.]{1,6}|[~.]?\/[\w./-]*|https?:\/\/[^\s@?]*)$/i;
const harmlessHeaders = new Set([
  "accept",
  "accept-language",
  "content-type",
  "user-agent",
  "http-referer",
  "referer",
  "x-title",
]);

/** The values of a configuration that are masked in events, results and messages. */
export function hiddenValues(config: unknown): string[] {
  const values = readServers(config, []).servers.flatMap((server): string[] => {
    if (server.transport === "stdio") return Object.values(server.env).filter((value) => !plain.test(value));
    return [
      ...headerSecrets(server.headers),
      ...urlSecrets(server.url),
      ...textsIn(server.oauth?.state),
      ...textsIn(server.oauth?.authentication["client_secret"]),
    ];
  });
  return [...new Set([...values, ...passwordsIn(config)])].filter((value) => value.trim() !== "");
}

/** The credentials among the values of headers: whole, and without the word before them. */
export function headerSecrets(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name, value]) => !harmlessHeaders.has(name.toLowerCase()) && !place.test(value))
    .flatMap(([, value]) => [value, value.replace(/^(?:Bearer|Basic|Token)\s+/i, "")]);
}

/** A password is sent inside a longer text, but may appear alone. */
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
