import type { AddressInfo } from "node:net";

/** `http://host:port` that a client on this machine can use. */
export function addressOf({ address, family, port }: AddressInfo): string {
  const host = isWildcard(address) ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/**
 * The address by which other nodes reach a server on `boundHost`; `ownHost` is the host by which they know this
 * machine.
 */
export function reachableAt(url: string, boundHost: string, ownHost: string | null): string {
  if (ownHost === null || !isWildcard(boundHost)) return url;
  return `http://${ownHost.includes(":") ? `[${ownHost}]` : ownHost}:${new URL(url).port}`;
}

/** The address of an internal listener; port 0 picks a free one. */
export type InternalPlace = { readonly host: string; readonly port: number };

/** The inputs for the address of the internal listener of one of several processes. */
export type InternalPlan = {
  readonly host: string;
  readonly port: number;
  /** Null where all servers on the store are on this machine. */
  readonly database: { readonly nodeAddress: string | null } | null;
  /** The number of the process, from 1 on. */
  readonly number: number;
};

/** On a data folder loopback is enough. With a configured address the port is derived from it. */
export function internalPlace({ host, port, database, number }: InternalPlan): InternalPlace {
  if (database === null) return { host: "127.0.0.1", port: 0 };
  return { host, port: database.nodeAddress === null ? 0 : port + number };
}

/** The address of an internal listener that other nodes get. */
export function internalAddress(
  { host, database, number }: InternalPlan,
  listening: AddressInfo,
  ownHost: string | null,
): string {
  const configured = database?.nodeAddress ?? null;
  if (configured === null) return reachableAt(addressOf(listening), host, ownHost);
  const url = new URL(configured);
  url.port = String(Number(url.port || (url.protocol === "https:" ? 443 : 80)) + number);
  return url.origin;
}

function isWildcard(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}
