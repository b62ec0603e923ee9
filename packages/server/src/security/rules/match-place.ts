import { isIP } from "node:net";
import { posix } from "node:path";
import type { Action } from "@convoke/protocol";
import { pathsInPatch } from "@convoke/tool-host";
import type { RulePlaces } from "./rule.ts";

/** The files that an action names, absolute and without `..`; empty for an action without a path. */
export function pathsOf(action: Action, { workingDir }: RulePlaces): string[] {
  const values = argumentsOf(action);
  const patch = values["patch"];
  const named = typeof patch === "string" ? pathsInPatch(patch) : [values["path"]];
  return named.flatMap((path) => (typeof path === "string" ? [posix.resolve(workingDir, path)] : []));
}

/** The hosts that an action names, as `host` or `hosts`; an entry that is no text is an empty one, which only `*` fits. */
export function hostsOf(action: Action): string[] {
  const { host, hosts } = argumentsOf(action);
  const all: readonly unknown[] = [
    ...(typeof host === "string" ? [host] : []),
    ...(Array.isArray(hosts) ? hosts : []),
  ];
  return all.map((one) => (typeof one === "string" ? one : ""));
}

/** Whether a path is one that the form names. Links are not followed: only the texts are compared. */
export function fitsPath(form: string, path: string, { workingDir, home }: RulePlaces): boolean {
  const isOfHome = form === "~" || form.startsWith("~/");
  if (isOfHome && home === null) return false;
  const whole = isOfHome ? posix.join(home!, form.slice(1)) : posix.resolve(workingDir, form);
  return fitsSegments(segmentsOf(whole), segmentsOf(path));
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** `**` stands for any number of folders, `*` and `?` stay in one name. Time is the product of both lengths. */
function fitsSegments(form: readonly string[], path: readonly string[]): boolean {
  let fitting = new Set([0]);
  for (const element of form) {
    const next = new Set<number>();
    for (const at of fitting) {
      if (element === "**") for (let end = at; end <= path.length; end += 1) next.add(end);
      else if (at < path.length && fitsName(element, path[at]!)) next.add(at + 1);
    }
    fitting = next;
  }
  return fitting.has(path.length);
}

/** The usual comparison with one place to go back to. */
function fitsName(form: string, name: string): boolean {
  let [at, to, star, starTo] = [0, 0, -1, 0];
  while (to < name.length) {
    if (form[at] === "*") [star, starTo, at] = [at, to, at + 1];
    else if (form[at] === "?" || form[at] === name[to]) [at, to] = [at + 1, to + 1];
    else if (star >= 0) [at, starTo, to] = [star + 1, starTo + 1, starTo + 1];
    else return false;
  }
  return /^\**$/u.test(form.slice(at));
}

/**
 * Whether a host is one that the form names: itself, or with `*.` any host below a domain, not the domain. A form with
 * a port fits only that port; one without fits all. Case and a dot at the end do not count. `*` fits names and no
 * addresses, which may be those of private networks.
 */
export function fitsHost(form: string, host: string): boolean {
  const [wanted, given] = [splitHost(form), splitHost(host)];
  if (wanted.name === "*" && isAddress(given.name)) return false;
  return (wanted.port === null || wanted.port === given.port) && fitsHostName(wanted.name, given.name);
}

/** Whether a host, which may be written as `*.example.com` or `example.com:*`, shares any name and port with those of the form. */
export function mayFitHost(form: string, host: string): boolean {
  const [wanted, given] = [splitHost(form), splitHost(host)];
  const ports = new Set([wanted.port, given.port]);
  const mayFitPort = ports.size === 1 || ports.has(null) || ports.has("*");
  return mayFitPort && (fitsHostName(wanted.name, given.name) || fitsHostName(given.name, wanted.name));
}

function fitsHostName(form: string, name: string): boolean {
  if (form === "*") return true;
  if (!form.startsWith("*.")) return form === name;
  const domain = form.slice(1);
  return name.endsWith(domain) && name.length > domain.length;
}

/** In any spelling, such as `127.1` or `2130706433`. */
function isAddress(name: string): boolean {
  const address = `http://${name}/`;
  return name.includes(":") || (URL.canParse(address) && isIP(new URL(address).hostname) !== 0);
}

function splitHost(text: string): { readonly name: string; readonly port: string | null } {
  const [, name = text, port = null] = /^(.*?|\[.*\])(?::(\d+|\*))?$/su.exec(text) ?? [];
  return { name: name.toLowerCase().replace(/\.$/u, ""), port };
}

function argumentsOf(action: Action): Readonly<Record<string, unknown>> {
  return action.kind === "MCPToolAction" ? (action.data ?? {}) : action;
}
