import { createHash } from "node:crypto";
import { hostOf, type ModelRoute } from "../model-names.ts";

/** Whom a request is made for: what one address gave, or taught, is of no use to another. */
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

/** The same in a form that tells nothing, to store things under: addresses may have passwords in them. */
export function addressKey({ wire, place, model }: Omit<Address, "host">): string {
  return createHash("sha256")
    .update(JSON.stringify([wire, place, model]))
    .digest("hex");
}
