import { posix } from "node:path";
import { conversationMissing } from "../../../engine/refusals.ts";
import type { ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import { invalidField } from "../../../lib/fault.ts";
import { storedId } from "../../../lib/uuid7.ts";
import type { OpenAccess } from "../../../workspaces/workspace-access.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** The machine that a conversation works on, with the files below its directory. */
export function runtimeAccess(deps: FaceDeps): OpenAccess {
  return async (caller, params) => {
    const { id, config } = await describeRuntime(deps, caller, params["runtime_conversation_id"]!);
    const { sandbox_id: sandboxId } = config;
    await deps.directory.requireFiles(id, config);
    const access =
      sandboxId === undefined
        ? await deps.openAccess(caller, params)
        : await deps.openSandboxAccess(caller, { sandbox_id: sandboxId });
    const workingDir = config.workspace.working_dir;
    return { ...access, workspace: await deps.openFiles(config, workingDir), workingDir };
  };
}

/** Fails when the caller has no such conversation (404). */
export async function describeRuntime(
  { directory }: Pick<FaceDeps, "directory">,
  caller: { readonly userId: string },
  id: string,
): Promise<ConversationInfoSource> {
  const described = await directory.describe(caller, storedId(id));
  if (described === null) throw conversationMissing(id);
  return described;
}

/** Refuses early, by the name of the field, paths that the file access would refuse. */
export function refuseOutside(root: string, path: string, at: [string, string]): void {
  const plain = posix.normalize(path);
  const isInside = plain === root || plain.startsWith(root.endsWith("/") ? root : `${root}/`);
  if (posix.isAbsolute(path) && isInside) return;
  throw invalidField(at, "Send an absolute path inside the directory of the conversation.");
}
