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

/** Refuses a model's addresses where they are given, instead of at their first use; a blank one is none. `loc` leads to the model. */
export function checkModelAddress(llm: object, loc: readonly string[]): void {
  const given = new Map<string, unknown>(Object.entries(llm));
  for (const name of addresses) {
    const address = given.get(name);
    if (typeof address === "string" && address.trim() !== "") parseModelAddress(address, [...loc, name]);
  }
}

const addresses = ["base_url", "ollama_base_url", "aws_bedrock_runtime_endpoint"];
