import { userRoles, type UserRole } from "@convoke/protocol";
import { isLoopback } from "../http/guard.ts";
import { ConfigError } from "../lib/config-error.ts";
import { maxLoginMs, type OidcSettings } from "../oidc/oidc-settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What a login needs of the rest of the configuration. */
export type OidcSurroundings = {
  readonly host: string;
  readonly webUrl: string | null;
  readonly isAuthDisabled: boolean;
};

const required = [
  "CONVOKE_OIDC_ISSUER",
  "CONVOKE_OIDC_CLIENT_ID",
  "CONVOKE_OIDC_CLIENT_SECRET",
  "CONVOKE_OIDC_ROLES",
] as const;

const optional = [
  "CONVOKE_OIDC_CLAIM",
  "CONVOKE_OIDC_DOMAINS",
  "CONVOKE_OIDC_NAME",
  "CONVOKE_OIDC_SCOPES",
  "CONVOKE_OIDC_LOGIN_HOURS",
] as const;

const maxHours = maxLoginMs / 3_600_000;

/** Reads the `CONVOKE_OIDC_*` settings; null while none is set. */
export function readOidc(environment: Environment, surroundings: OidcSurroundings): OidcSettings | null {
  const given = [...required, ...optional].filter((name) => environment[name]);
  if (given.length === 0) return null;
  const missing = required.filter((name) => !environment[name]);
  if (missing.length > 0)
    throw new ConfigError(`${given[0]} is set, so ${missing.join(" and ")} must be set too.`);
  const issuer = readIssuer(environment["CONVOKE_OIDC_ISSUER"]!);
  checkSurroundings(surroundings);
  const scopes = environment["CONVOKE_OIDC_SCOPES"] || "openid email profile";
  if (!scopes.split(" ").includes("openid"))
    throw new ConfigError("CONVOKE_OIDC_SCOPES must have openid among its scopes, separated by spaces.");
  return {
    issuer: issuer.href,
    clientId: environment["CONVOKE_OIDC_CLIENT_ID"]!,
    clientSecret: environment["CONVOKE_OIDC_CLIENT_SECRET"]!,
    name: environment["CONVOKE_OIDC_NAME"] || issuer.host,
    scopes,
    claim: environment["CONVOKE_OIDC_CLAIM"] || "groups",
    roles: readRoles(environment["CONVOKE_OIDC_ROLES"]!),
    domains: readDomains(environment["CONVOKE_OIDC_DOMAINS"] ?? ""),
    loginMs: readHours(environment["CONVOKE_OIDC_LOGIN_HOURS"] ?? ""),
  };
}

function readIssuer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && `${url.username}${url.search}${url.hash}` === "";
  const host = url?.hostname.replaceAll(/[[\]]/g, "") ?? "";
  if (isPlain && (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(host)))) return url;
  throw new ConfigError(
    "CONVOKE_OIDC_ISSUER must be an address such as https://id.example.org/realm; http works on this machine only.",
  );
}

function checkSurroundings({ host, webUrl, isAuthDisabled }: OidcSurroundings): void {
  if (isAuthDisabled)
    throw new ConfigError("CONVOKE_OIDC_ISSUER is set, and --no-auth needs no login. Leave one of them out.");
  if (webUrl === null && !isLoopback(host))
    throw new ConfigError(
      `CONVOKE_OIDC_ISSUER needs CONVOKE_WEB_URL on ${host}: the provider sends browsers back to that address.`,
    );
}

/** `value=role, ...`, or a JSON object where values have commas in them. */
function readRoles(text: string): ReadonlyMap<string, UserRole> {
  const pairs = text.trim().startsWith("{") ? readObject(text) : readPairs(text);
  const roles = new Map<string, UserRole>();
  for (const [value, given] of pairs) {
    const role = userRoles.find((one) => one === given);
    if (role === undefined || value === "") throw wrongRoles();
    roles.set(value, role);
  }
  if (roles.size === 0) throw wrongRoles();
  return roles;
}

function readPairs(text: string): [string, unknown][] {
  return text.split(",").map((pair) => {
    const at = pair.lastIndexOf("=");
    return [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()];
  });
}

function readObject(text: string): [string, unknown][] {
  try {
    return Object.entries(JSON.parse(text) as object);
  } catch (cause) {
    throw wrongRoles(cause);
  }
}

function wrongRoles(cause?: unknown): ConfigError {
  return new ConfigError(
    `CONVOKE_OIDC_ROLES must be a list such as admins=admin,staff=member, or a JSON object; roles are ${userRoles.join(", ")}, and * is everybody.`,
    { cause },
  );
}

function readDomains(text: string): string[] {
  const domains = text.split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim().toLowerCase()]));
  const wrong = domains.find((domain) => !/^[\p{L}\d-]+(\.[\p{L}\d-]+)*$/u.test(domain));
  if (wrong === undefined) return domains;
  throw new ConfigError(`CONVOKE_OIDC_DOMAINS must be names such as example.org, not "${wrong}".`);
}

function readHours(text: string): number | null {
  if (text === "") return null;
  const hours = Number(text);
  if (hours > 0 && hours <= maxHours) return hours * 3_600_000;
  throw new ConfigError(`CONVOKE_OIDC_LOGIN_HOURS must be a number up to ${maxHours}, not "${text}".`);
}
