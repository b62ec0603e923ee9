import { createHash } from "node:crypto";
import { hostOf, type ModelRoute } from "../model-names.ts";

/** The target of a request. Replay items and lessons of one address are of no use to another. */
export type Address = {
  readonly wire: string;
  /** With port and path: several servers may live on one machine. */
  readonly place: string;
  /** Without port and path; what is sealed for one host goes back there only, see `ProviderReplay`. */
  readonly host: string;
  readonly model: string;
};

export function addressOf({ wire, baseUrl, model }: ModelRoute): Address {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  return { wire, place: url === null ? baseUrl : `${url.host}${url.pathname}`, host: hostOf(baseUrl), model };
}

/** A digest of the address, used as a storage key: addresses may contain passwords. */
export function addressKey({ wire, place, model }: Omit<Address, "host">): string {
  return createHash("sha256")
    .update(JSON.stringify([wire, place, model]))
    .digest("hex");
}
