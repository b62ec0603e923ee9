import { createBoundSecretRegistry } from "../../egress/bound-secret-registry.ts";
import { silentLogger } from "../../lib/logger.ts";
import { SandboxWays, type SandboxWaysDeps } from "../sandbox-ways.ts";

/** Ways out that only the policy closes. */
export function createTestWays(
  policy: SandboxWaysDeps["policy"],
  onRecord: SandboxWaysDeps["onRecord"] = () => {},
  more: Partial<SandboxWaysDeps> = {},
): SandboxWays {
  return new SandboxWays({
    policy,
    environment: {},
    isOwnListener: () => false,
    boundSecrets: createBoundSecretRegistry(),
    limitOf: () => undefined,
    onRecord,
    logger: silentLogger,
    ...more,
  });
}
