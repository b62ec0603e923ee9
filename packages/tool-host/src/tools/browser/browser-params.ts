import { ToolInputError } from "../../tool.ts";

export type BrowserParams = {
  /** Hosts that pages may be loaded from; null for all. `example.com` matches itself, `*.example.com` also all subdomains. */
  readonly allowedDomains: readonly string[] | null;
  readonly idleMs: number;
  readonly startMs: number;
  readonly actionMs: number;
  /** Script to run in every document before its own scripts. */
  readonly scripts: readonly string[];
};

/**
 * Parses the parameters of a tool spec. Parameters of other engines are ignored, except those that would block pages and are not
 * implemented here.
 */
export function parseBrowserParams(params: Readonly<Record<string, unknown>>): BrowserParams {
  const unknown = Object.keys(params).find((name) => name !== "allowed_domains" && guards.test(name));
  if (unknown !== undefined)
    throw new ToolInputError(
      `The tool parameter ${unknown} is not known. Use allowed_domains, a list of hosts.`,
    );
  const domains = texts(params, "allowed_domains");
  return {
    allowedDomains:
      domains === null || domains.length === 0 ? null : domains.map((name) => name.toLowerCase()),
    idleMs: positive(params, "session_timeout_minutes", 30) * 60_000,
    startMs: positive(params, "init_timeout_seconds", 30) * 1_000,
    actionMs: positive(params, "action_timeout_seconds", 300) * 1_000,
    scripts: texts(params, "inject_scripts") ?? [],
  };
}

const guards = /domain|host|allow|block|den[iy]|prohibit|forbid/i;

/** Whether an address may be loaded. Documents without a host (`about:blank`, `data:`, `blob:`) come from allowed pages. */
export function isAllowedUrl(url: URL, domains: readonly string[] | null): boolean {
  if (domains === null || !["http:", "https:", "ws:", "wss:"].includes(url.protocol)) return true;
  const host = url.hostname.toLowerCase();
  return domains.some((domain) => {
    const name = domain.replace(/^[a-z]+:\/\//, "").replace(/[/:].*$/, "");
    if (!name.startsWith("*.")) return host === name;
    return host === name.slice(2) || host.endsWith(name.slice(1));
  });
}

function positive(params: Readonly<Record<string, unknown>>, name: string, usual: number): number {
  const value = params[name] ?? usual;
  if (typeof value === "number" && value > 0) return value;
  throw new ToolInputError(`The tool parameter ${name} must be a number above 0.`);
}

function texts(params: Readonly<Record<string, unknown>>, name: string): readonly string[] | null {
  const value = params[name] ?? null;
  if (value === null) return null;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw new ToolInputError(`The tool parameter ${name} must be a list of texts.`);
}
