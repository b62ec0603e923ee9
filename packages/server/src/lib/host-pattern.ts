import { isIP } from "node:net";
import { isPort, type Target, toHost } from "./host-name.ts";

/** A host, all names below one, or every host, with the ports for which it counts. */
export type HostPattern = {
  /** As it was written. */
  readonly text: string;
  readonly host: string;
  readonly covers: "host" | "names-below" | "everything";
  readonly ports: ReadonlySet<number> | "any";
};

const webPorts: ReadonlySet<number> = new Set([80, 443]);

/** Without a port, a pattern counts for the ports of the web, or for any port. */
export type PortsWithout = "web" | "any";

/** A pattern such as `example.com`, `*.example.com:8443`, `example.com:*`, `[::1]:80`, `*`; otherwise a sentence that says what is wrong. */
export function parseHostPattern(text: string, without: PortsWithout): HostPattern | string {
  if (text.includes("://") || text.includes("/"))
    return `Write a host without scheme and path, not "${text}".`;
  const isWholeAddress = isIP(text) === 6;
  const [, host = text, digits] = isWholeAddress ? [] : (/^(.*?)(?::(\*|\d{1,5}))?$/.exec(text) ?? []);
  const covers = host === "*" ? "everything" : host.startsWith("*.") ? "names-below" : "host";
  const name = covers === "everything" ? "*" : toHost(covers === "host" ? host : host.slice(2));
  if (
    name === null ||
    name.includes("*", covers === "everything" ? 1 : 0) ||
    (covers === "names-below" && isIP(name) !== 0)
  ) {
    return `Write a host such as example.com, *.example.com or db.example.com:5432, not "${text}".`;
  }
  const ports = parsePorts(digits, without);
  return ports === null
    ? `Write a port from 1 to 65535, not "${digits}".`
    : { text, host: name, covers, ports };
}

export function matchesHost(pattern: HostPattern, { host, port }: Target): boolean {
  if (pattern.ports !== "any" && !pattern.ports.has(port)) return false;
  if (pattern.covers === "host") return host === pattern.host;
  return pattern.covers === "everything" || host.endsWith(`.${pattern.host}`);
}

function parsePorts(digits: string | undefined, without: PortsWithout): HostPattern["ports"] | null {
  if (digits === "*") return "any";
  if (digits === undefined) return without === "any" ? "any" : webPorts;
  return isPort(Number(digits)) ? new Set([Number(digits)]) : null;
}
