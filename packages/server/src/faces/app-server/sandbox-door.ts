import type { Sandboxes } from "../../app-conversations/sandbox-service.ts";
import type { RouteRequest } from "../../http/mount.ts";
import type { SandboxDoor } from "./app-conversation-view.ts";

/** Sandboxes as the caller reaches them: below the address that the request came to (P16). */
export function sandboxDoor({ request }: RouteRequest, sandboxes: Sandboxes | null): SandboxDoor {
  return {
    url: (sandboxId) => `${request.publicAddress}/sandboxes/${sandboxId}`,
    key: (sandboxId) => sandboxes?.sessionKey(sandboxId) ?? null,
  };
}
