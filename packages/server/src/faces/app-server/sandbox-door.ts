import type { Sandboxes } from "../../app-conversations/sandbox-service.ts";
import type { RouteRequest } from "../../http/mount.ts";
import type { SandboxDoor } from "./app-conversation-view.ts";

/** Sandboxes as the caller reaches them: below the address that the request came to (P16). */
export function sandboxDoor({ request }: RouteRequest, sandboxes: Sandboxes | null): SandboxDoor {
  const origin = `${request.protocol}://${request.host}`;
  return {
    url: (sandboxId) => `${origin}/sandboxes/${sandboxId}`,
    key: (sandboxId) => sandboxes?.sessionKey(sandboxId) ?? null,
  };
}
