import { ConfigError } from "../../lib/config-error.ts";
import type { EgressOptions } from "../egress.ts";
import { toHost } from "../../lib/host-name.ts";

/**
 * The machine's own proxy by its variables `https_proxy`, `all_proxy` and `no_proxy`, in both spellings. Throws a {@link ConfigError}
 * for an address that is not `http://` or `https://`.
 */
export function findParentProxy(
  environment: Readonly<Record<string, string | undefined>>,
): NonNullable<EgressOptions["parentProxy"]> {
  const read = (name: string): string => environment[name] || environment[name.toUpperCase()] || "";
  const address = read("https_proxy") || read("all_proxy");
  if (address === "") return () => null;
  const proxy = URL.canParse(address) ? new URL(address) : null;
  if (proxy === null || !/^https?:$/.test(proxy.protocol)) {
    throw new ConfigError("https_proxy must be an address such as http://proxy.example.org:3128.");
  }
  const direct = read("no_proxy")
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
  return (host, port) => (direct.some((entry) => covers(entry, host, port)) ? null : proxy);
}

/** An entry is a host with all names below it, with or without a dot before it and a port behind it, or `*`. */
function covers(entry: string, host: string, port: number): boolean {
  if (entry === "*") return true;
  const [, name = entry, digits] = /^(.*?[^:]):(\d+)$/.exec(entry) ?? [];
  if (digits !== undefined && Number(digits) !== port) return false;
  const own = toHost(name.replace(/^\*?\./, ""));
  return own !== null && (host === own || host.endsWith(`.${own}`));
}
