import type { SecretSource } from "@convoke/protocol";
import { refuseMasks } from "../../settings/secret-fields.ts";

/** Refuses an address with the mask of a secret in it, as it is shown: what it looks up would be nothing, and nobody told (P33). */
export function checkSecretSources(
  sources: Readonly<Record<string, SecretSource>>,
  loc: readonly string[],
): void {
  for (const [name, source] of Object.entries(sources)) {
    if (source.kind === "LookupSecret") refuseMasks(source.url, [...loc, name, "url"]);
  }
}
