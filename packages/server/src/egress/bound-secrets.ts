import type { BoundSecret } from "./egress.ts";
import type { Target } from "../lib/host-name.ts";
import { matchesHost, parseHostPattern } from "../lib/host-pattern.ts";

/** The secrets that are bound to a target. A host that cannot be read binds nothing. */
export function secretsFor(secrets: readonly BoundSecret[], target: Target): BoundSecret[] {
  return secrets.filter(
    ({ hosts, placeholder }) =>
      placeholder !== "" &&
      hosts.some((text) => {
        const pattern = parseHostPattern(text, "web");
        return typeof pattern !== "string" && matchesHost(pattern, target);
      }),
  );
}
