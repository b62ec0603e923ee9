import type { UserRole } from "@convoke/protocol";
import { userRoles } from "@convoke/protocol/user-roles";
import { read, type Environment } from "./setting.ts";
import { settings } from "./settings.ts";
import { isLoopback } from "../http/guard.ts";
import { ConfigError } from "../lib/config-error.ts";
import type { OidcSettings } from "../oidc/oidc-settings.ts";

/** What a login needs of the rest of the configuration. */
export type OidcSurroundings = {
  readonly host: string;
  readonly webUrl: string | null;
  readonly isAuthDisabled: boolean;
};

const required = [
  settings.oidc_issuer,
  settings.oidc_client_id,
  settings.oidc_client_secret,
  settings.oidc_roles,
].map(({ variable }) => variable);

const optional = [
  settings.oidc_claim,
  settings.oidc_domains,
  settings.oidc_name,
  settings.oidc_scopes,
  settings.oidc_login_hours,
  settings.oidc_logout,
].map(({ variable }) => variable);

/** Reads the `CONVOKE_OIDC_*` settings; null while none is set. */
export function readOidc(environment: Environment, surroundings: OidcSurroundings): OidcSettings | null {
  const given = [...required, ...optional].filter((name) => environment[name]);
  if (given.length === 0) return null;
  const missing = required.filter((name) => !environment[name]);
  if (missing.length > 0)
    throw new ConfigError(`${given[0]} is set, so ${missing.join(" and ")} must be set too.`);
  const issuer = readIssuer(environment[settings.oidc_issuer.variable]!);
  checkSurroundings(surroundings);
  const scopes = read(environment, settings.oidc_scopes);
  if (!scopes.split(" ").includes("openid"))
    throw new ConfigError("CONVOKE_OIDC_SCOPES must have openid among its scopes, separated by spaces.");
  return {
    issuer: issuer.href,
    clientId: environment[settings.oidc_client_id.variable]!,
    clientSecret: environment[settings.oidc_client_secret.variable]!,
    name: read(environment, settings.oidc_name) ?? issuer.host,
    scopes,
    claim: read(environment, settings.oidc_claim),
    roles: readRoles(environment[settings.oidc_roles.variable]!),
    domains: readDomains(read(environment, settings.oidc_domains)),
    isLogoutThere: read(environment, settings.oidc_logout) === "provider",
    loginMs: readHours(environment),
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

function readDomains(given: readonly string[]): string[] {
  const domains = given.map((one) => one.toLowerCase());
  const wrong = domains.find((domain) => !/^[\p{L}\d-]+(\.[\p{L}\d-]+)*$/u.test(domain));
  if (wrong === undefined) return domains;
  throw new ConfigError(`CONVOKE_OIDC_DOMAINS must be names such as example.org, not "${wrong}".`);
}

function readHours(environment: Environment): number | null {
  const hours = read(environment, settings.oidc_login_hours);
  return hours === null ? null : hours * 3_600_000;
}
