import type { ExposedUrl } from "@convoke/protocol";
import type { SandboxAccess } from "../../app-conversations/sandbox-service.ts";
import { sandboxPorts } from "../../app-conversations/sandbox-ports.ts";
import type { RouteRequest } from "../../http/mount.ts";
import { isAtLeast, roleOf } from "../../security/roles.ts";
import type { SandboxAddresses } from "./app-conversation-view.ts";

/** How the caller reaches a sandbox through this server. */
export type SandboxGate = SandboxAddresses & {
  /** The agent server of the sandbox, and ports for web servers that agents start. */
  readonly exposedUrls: (sandboxId: string) => ExposedUrl[];
};

/** Sandboxes as the caller reaches them: below the address that the request came to (P16). */
export function sandboxGate({ request, caller }: RouteRequest, sandboxes: SandboxAccess | null): SandboxGate {
  // A sandbox's keys may do everything in it.
  const mayHaveKeys = isAtLeast(roleOf(caller), "member") && caller.onlyConversation === undefined;
  const url = (sandboxId: string): string => `${request.publicAddress}/sandboxes/${sandboxId}`;
  return {
    url,
    key: (sandboxId) => (mayHaveKeys ? (sandboxes?.sessionKey(sandboxId) ?? null) : null),
    exposedUrls: (sandboxId) => {
      const portKey = mayHaveKeys ? (sandboxes?.portKey(sandboxId) ?? null) : null;
      const ports = Object.entries(portKey === null ? {} : sandboxPorts);
      return [
        { name: "AGENT_SERVER", url: url(sandboxId), port: agentServerPort },
        ...ports.map(([name, port]) => ({ name, url: `${url(sandboxId)}~${portKey}/ports/${port}/`, port })),
      ];
    },
  };
}

/** The port that clients expect; nothing listens there. */
const agentServerPort = 8000;
