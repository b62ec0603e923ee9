import { lookup } from "node:dns";
import { lookup as resolveName } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { onceUnlessRejected } from "@convoke/protocol";
import type { Dispatcher } from "undici";
import type { AddressList } from "./address-list.ts";

/** Sends one request. */
export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` for addresses that users choose; it never connects to a blocked one. The resolved address is checked for
 * each connection, so neither a redirect nor a changed DNS entry leads there.
 */
export function createFilteredFetch(isBlocked: AddressList): Fetch {
  const opened = onceUnlessRejected(() => openDispatcher(isBlocked));
  return async (input, init) => {
    const dispatcher = await opened();
    if (dispatcher === null) {
      // With a proxy, the addresses that are visible here are checked first.
      await refuseHost(new URL(input), isBlocked);
      return await fetch(input, init);
    }
    return await fetch(input, { ...init, dispatcher } as RequestInit);
  };
}

/** Null where Node itself is configured to use a proxy. */
async function openDispatcher(isBlocked: AddressList): Promise<Dispatcher | null> {
  // Bundled, a module of CommonJS has this one export.
  const { Agent, buildConnector, getGlobalDispatcher } = (await import("undici")).default;
  if (getGlobalDispatcher().constructor.name === "EnvHttpProxyAgent") return null;
  const connect = buildConnector({ lookup: filteredLookup(isBlocked) });
  return new Agent({
    connect: (options, callback) => {
      const host = plainHost(options.hostname);
      // An IP address needs no lookup.
      if (isIP(host) !== 0 && isBlocked(host)) callback(blocked(host), null);
      else connect(options, callback);
    },
  });
}

function filteredLookup(isBlocked: AddressList): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const found = addresses?.find(({ address }) => isBlocked(address));
      const [first] = addresses ?? [];
      const failure = error ?? (found === undefined ? null : blocked(found.address));
      if (failure !== null || first === undefined) callback(failure, "");
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

async function refuseHost({ hostname }: URL, isBlocked: AddressList): Promise<void> {
  const host = plainHost(hostname);
  // A name that only the proxy knows is its business.
  const addresses =
    isIP(host) === 0 ? await resolveName(host, { all: true }).catch(() => []) : [{ address: host }];
  const found = addresses.find(({ address }) => isBlocked(address));
  if (found !== undefined) throw blocked(found.address);
}

function plainHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

function blocked(address: string): Error {
  return new Error(`Whoever runs the server does not let it call ${address}.`);
}
