import { headerProblem } from "../../lib/header-problem.ts";
import type { BoundSecret } from "../egress.ts";
import type { Header } from "../policy/headers.ts";
import type { Target } from "../../lib/host-name.ts";
import { Refused } from "../records/refusal.ts";

/** A request's head with the values of secrets in place of their placeholders. */
export type InjectedHead = {
  readonly headers: readonly Header[];
  readonly path: string;
  /** Names in lower case of headers that have a value now. */
  readonly inHeaders: ReadonlySet<string>;
  readonly isInQuery: boolean;
  readonly used: ReadonlySet<BoundSecret>;
};

/** Throws `Refused` where a header cannot carry a value. */
export function injectHead(
  target: Target,
  secrets: readonly BoundSecret[],
  headers: readonly Header[],
  path: string,
): InjectedHead {
  const used = new Set<BoundSecret>();
  const inHeaders = new Set<string>();
  const changed = headers.map(([name, value]): Header => {
    const now = injectBasic(injectPlain(value, secrets, used), secrets, used);
    if (now === value) return [name, value];
    const problem = headerProblem(name, now);
    if (problem !== null)
      throw new Refused(target, "unusable-secret", `With its secret, the header ${name} ${problem}.`);
    inHeaders.add(name.toLowerCase());
    return [name, now];
  });
  const start = path.indexOf("?");
  const query = start === -1 ? "" : path.slice(start);
  const newQuery = replaceAll(query, secrets, "query", used, encodeURIComponent);
  return {
    headers: changed,
    path: path.slice(0, path.length - query.length) + newQuery,
    inHeaders,
    isInQuery: newQuery !== query,
    used,
  };
}

export const maxInjectedBodyBytes = 1024 * 1024;

/** The body with values, written as its type has them; null when no placeholder is in it. */
export function injectBody(
  body: Buffer,
  contentType: string,
  secrets: readonly BoundSecret[],
): { readonly body: Buffer; readonly used: ReadonlySet<BoundSecret> } | null {
  const used = new Set<BoundSecret>();
  const text = body.toString("latin1");
  const now = replaceAll(text, secrets, "body", used, (value) =>
    Buffer.from(encodeFor(contentType, value)).toString("latin1"),
  );
  return used.size === 0 ? null : { body: Buffer.from(now, "latin1"), used };
}

function encodeFor(contentType: string, value: string): string {
  if (/[/+]json\b/i.test(contentType)) return JSON.stringify(value).slice(1, -1);
  return /^application\/x-www-form-urlencoded\b/i.test(contentType) ? encodeURIComponent(value) : value;
}

function injectPlain(value: string, secrets: readonly BoundSecret[], used: Set<BoundSecret>): string {
  return replaceAll(value, secrets, "header", used, (secret) => secret);
}

/** Name and password of HTTP Basic are hidden from a search in the header by their encoding. */
function injectBasic(value: string, secrets: readonly BoundSecret[], used: Set<BoundSecret>): string {
  const [, scheme, encoded] = /^(basic +)([\w+/-]+=*)$/i.exec(value) ?? [];
  if (encoded === undefined) return value;
  const login = Buffer.from(encoded, "base64").toString();
  const now = replaceAll(login, secrets, "basic", used, (secret) => secret);
  return now === login ? value : `${scheme}${Buffer.from(now).toString("base64")}`;
}

function replaceAll(
  text: string,
  secrets: readonly BoundSecret[],
  place: BoundSecret["as"][number],
  used: Set<BoundSecret>,
  encode: (value: string) => string,
): string {
  let now = text;
  for (const secret of secrets) {
    if (!secret.as.includes(place) || !now.includes(secret.placeholder)) continue;
    now = now.replaceAll(secret.placeholder, () => encode(secret.value));
    used.add(secret);
  }
  return now;
}
