import { isIP } from "node:net";
import type { Action } from "@convoke/protocol";
import { parseHostPattern, type HostPattern } from "../../lib/host-pattern.ts";
import { argumentsOf } from "./rule.ts";

/** The hosts that an action names, as `host` or `hosts`; an entry that is no text is an empty one, which cannot be read. */
export function hostsOf(action: Action): string[] {
  const { host, hosts } = argumentsOf(action);
  const all: readonly unknown[] = [
    ...(typeof host === "string" && host.trim() !== "" ? [host] : []),
    ...(Array.isArray(hosts) ? hosts : []),
  ];
  return all.map((one) => (typeof one === "string" ? one : ""));
}

/**
 * Whether everything that a host stands for, which may be written as `*.example.com` or `example.com:*`, is named by the
 * pattern: a host itself, or with `*.` any host below a domain, not the domain. A pattern with a port names only that port;
 * one without names all. Spellings do not count. `*` names no addresses, which may be those of private networks.
 */
export function fitsHost(pattern: string, host: string): boolean {
  const [named, given] = [read(pattern), read(host)];
  if (named === null || given === null || !coversPorts(named.ports, given.ports)) return false;
  if (named.covers === "everything") return isIP(given.host) === 0;
  if (given.covers === "everything") return false;
  if (named.covers === "host") return given.covers === "host" && given.host === named.host;
  const isBelow = given.host.endsWith(`.${named.host}`);
  return isBelow || (given.covers === "names-below" && given.host === named.host);
}

/** Whether a host shares any name and port with those of the pattern; what cannot be read may be any host. */
export function mayFitHost(pattern: string, host: string): boolean {
  const [named, given] = [read(pattern), read(host) ?? readAddressOfPage(host)];
  if (named === null) return false;
  if (given === null) return true;
  return sharePorts(named.ports, given.ports) && (mayName(named, given) || mayName(given, named));
}

/** Whether one of the two may name a host of the other. */
function mayName(named: HostPattern, given: HostPattern): boolean {
  if (named.covers === "everything") return true;
  if (named.host === given.host) return named.covers === given.covers;
  return named.covers === "names-below" && given.host.endsWith(`.${named.host}`);
}

/** Null for what is no host. */
function read(text: string): HostPattern | null {
  const pattern = parseHostPattern(text, "any");
  return typeof pattern === "string" ? null : pattern;
}

/** The host of a text such as `https://example.com/path`; null for one that has none. */
function readAddressOfPage(text: string): HostPattern | null {
  const isAddress = /^\s*[a-z][a-z\d+.-]*:\/\//iu.test(text) && URL.canParse(text);
  return isAddress ? read(new URL(text).hostname) : null;
}

function coversPorts(named: HostPattern["ports"], given: HostPattern["ports"]): boolean {
  return named === "any" || (given !== "any" && given.isSubsetOf(named));
}

function sharePorts(named: HostPattern["ports"], given: HostPattern["ports"]): boolean {
  return named === "any" || given === "any" || !given.isDisjointFrom(named);
}
