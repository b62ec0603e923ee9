import type { AddressInfo } from "node:net";

/** `http://host:port` that a client on this machine can use. */
export function addressOf({ address, family, port }: AddressInfo): string {
  const host = isWildcard(address) ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** How other servers reach one that listens on `boundHost`; `ownHost` is what they know this machine by. */
export function reachableAt(url: string, boundHost: string, ownHost: string | null): string {
  if (ownHost === null || !isWildcard(boundHost)) return url;
  return `http://${ownHost.includes(":") ? `[${ownHost}]` : ownHost}:${new URL(url).port}`;
}

/** Where a door listens; port 0 is any free one. */
export type InternalPlace = { readonly host: string; readonly port: number };

/** What says where the door of one of several processes is. */
export type InternalPlan = {
  readonly host: string;
  readonly port: number;
  /** Null where all servers on the store are on this machine. */
  readonly database: { readonly nodeAddress: string | null } | null;
  /** Of the process, from 1 on. */
  readonly number: number;
};

/** On a data folder nobody else needs to reach it; with a configured address its port is known beforehand, as that one is. */
export function internalPlace({ host, port, database, number }: InternalPlan): InternalPlace {
  if (database === null) return { host: "127.0.0.1", port: 0 };
  return { host, port: database.nodeAddress === null ? 0 : port + number };
}

/** What the other servers are told of a door. */
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
