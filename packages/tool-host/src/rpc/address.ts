import type { NetConnectOpts } from "node:net";

/** Where a host listens: a unix socket, or a TCP port of one address (port 0: any free one). */
export type ListenAddress = { readonly socket: string } | { readonly port: number; readonly address: string };

/** The text form: `unix:/path` or `tcp:127.0.0.1:4000`, `tcp:[::1]:4000`. */
export function formatAddress(listen: ListenAddress): string {
  if ("socket" in listen) return `unix:${listen.socket}`;
  const host = listen.address.includes(":") ? `[${listen.address}]` : listen.address;
  return `tcp:${host}:${listen.port}`;
}

export function parseAddress(text: string): NetConnectOpts {
  if (text.startsWith("unix:/")) return { path: text.slice("unix:".length) };
  const match = /^tcp:(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const [, bracketed, plain, port] = match ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    throw new Error(`A tool host's address is unix:/path or tcp:host:port, not ${text}.`);
  }
  return { host, port: Number(port) };
}
