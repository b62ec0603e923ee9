import type { NetworkPolicy } from "@convoke/protocol";
import { ConfigError } from "../lib/config-error.ts";
import { describeError } from "../lib/describe-error.ts";
import { parseNetwork } from "../egress/policy/parse-network.ts";
/** A policy in words of a variable or flag. Throws a {@link ConfigError} with `name` before what is wrong. */
export function readNetwork(text: string, name: string): NetworkPolicy {
  try {
    return parseNetwork(text);
  } catch (cause) {
    throw new ConfigError(`${name}: ${describeError(cause)}`, { cause });
  }
}
