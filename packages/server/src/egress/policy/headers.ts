import { formatTarget, formatHost, type Target } from "../../lib/host-name.ts";

/** As they came: order, spelling and repeated names stay. */
export type Header = readonly [name: string, value: string];

/** Names that are about one connection only (RFC 9110, section 7.6.1), beside those that `Connection` lists and `Proxy-*`. */
const ofConnection = new Set(["connection", "keep-alive", "te", "transfer-encoding", "upgrade"]);

/** `Connection` does not remove these: without them both sides could read another end of the message, or another host. */
const neverListed = new Set(["content-length", "host"]);

export function toHeaders(raw: readonly string[]): Header[] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at]!, raw[2 * at + 1]!] as const);
}

export function toRaw(headers: readonly Header[]): string[] {
  return headers.flat();
}

/** What is about the message, and not about the connection. */
export function ofMessage(headers: readonly Header[]): Header[] {
  const listed = valuesOf(headers, "connection").flatMap((value) =>
    value.split(",").map((name) => name.trim().toLowerCase()),
  );
  const dropped = new Set([...ofConnection, ...listed.filter((name) => !neverListed.has(name))]);
  return headers.filter(([name]) => {
    const lower = name.toLowerCase();
    return !dropped.has(lower) && !lower.startsWith("proxy-");
  });
}

/** Without the headers of these names, in lower case. */
export function without(headers: readonly Header[], ...names: readonly string[]): Header[] {
  return headers.filter(([name]) => !names.includes(name.toLowerCase()));
}

export function valuesOf(headers: readonly Header[], name: string): string[] {
  return headers.filter(([own]) => own.toLowerCase() === name).map(([, value]) => value);
}

/** The last value of a header that occurs once; undefined when it is missing. */
export function valueOf(headers: readonly Header[], name: string): string | undefined {
  return valuesOf(headers, name).at(-1);
}

/** False for an answer that ends with its head (RFC 9112, section 6.3), whatever its headers say of a body. */
export function mayHaveBody(method: string, status: number | null | undefined): boolean {
  return method !== "HEAD" && status !== 204 && status !== 304;
}

/** The value of `Host` or `:authority` for a target: the port only where it is not the scheme's. */
export function authorityOf(target: Target, isSecure: boolean): string {
  return target.port === (isSecure ? 443 : 80) ? formatHost(target.host) : formatTarget(target);
}

/** True for a `Content-Type` of text, in which a value can stand as it is. */
export function isText(type: string): boolean {
  return (
    /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript|x-www-form-urlencoded|x-ndjson|graphql|yaml)\b)/i.test(
      type,
    ) || /\bcharset=/i.test(type)
  );
}
