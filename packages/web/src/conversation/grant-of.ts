import type { HostTraffic } from "@convoke/protocol";

/** A host as a grant names it; without a port it means 80 and 443. */
export function grantOf({ host, port }: Pick<HostTraffic, "host" | "port">): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === 80 || port === 443 ? name : `${name}:${port}`;
}
