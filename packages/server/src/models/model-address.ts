import { invalidField } from "../lib/fault.ts";

/** The address of a model's server without query and fragment. Throws a Fault at `loc` for anything but HTTP. */
export function parseModelAddress(address: string, loc: readonly string[] = ["llm", "base_url"]): URL {
  const url = URL.canParse(address.trim()) ? new URL(address.trim()) : null;
  if (url === null || !/^https?:$/u.test(url.protocol)) {
    throw invalidField([...loc], "is not an address: write it like https://host/v1.");
  }
  url.search = "";
  url.hash = "";
  return url;
}

/** Refuses a model's address where it is given, instead of at its first use; a blank one is none. `loc` leads to the model. */
export function checkModelAddress(llm: { readonly base_url?: unknown }, loc: readonly string[]): void {
  const { base_url: address } = llm;
  if (typeof address === "string" && address.trim() !== "") parseModelAddress(address, [...loc, "base_url"]);
}
