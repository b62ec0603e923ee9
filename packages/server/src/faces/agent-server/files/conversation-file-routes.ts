import { posix } from "node:path";
import { WorkspaceError, type DirectoryEntry, type Workspace } from "@convoke/tool-host";
import type { FolderEntry, conversationFileRoutes } from "@convoke/protocol";
import type { Handlers } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { describeRuntime, refuseOutside, runtimeAccess } from "./conversation-machine.ts";
import { transcriptHandlers } from "./trajectory-routes.ts";
import { onMachine } from "./workspace-handler.ts";

/** The handlers of `conversationFileRoutes`: on the machine of a conversation, below its directory. */
export function conversationFileHandlers(deps: FaceDeps) {
  const openAccess = runtimeAccess(deps);
  return {
    ...transcriptHandlers(deps),
    listFolder: onMachine(openAccess, async ({ workspace, workingDir }, { query }) => {
      const { path, page_id: pageId, limit = 200 } = query;
      refuseOutside(workingDir, path, ["query", "path"]);
      const entries = (await workspace.list(path)).map((entry) => ({ entry, key: keyOf(entry) }));
      const rest = entries.filter(({ key }) => key >= (pageId ?? "")).sort(byKey);
      const items = rest.slice(0, limit).map(({ entry }) => withStat(workspace, path, entry));
      return { json: { items: await Promise.all(items), next_page_id: rest[limit]?.key ?? null } };
    }),
    restoreFile: onMachine(openAccess, async ({ workspace, workingDir }, request) => {
      const { path, ref } = request.body;
      refuseOutside(workingDir, path, ["body", "path"]);
      const { state } = await describeRuntime(deps, request.caller, request.params.runtime_conversation_id);
      if (state.status === "running")
        throw new Fault(
          "conflict",
          "already_running",
          "The agent may be changing this file. Wait until it ends, or interrupt it, before you take changes back.",
        );
      await workspace.gitRestore(path, ref ?? undefined);
      return { json: { success: true } };
    }),
  } satisfies Handlers<typeof conversationFileRoutes>;
}

/** Folders first, then by name as people sort, and still different for every name. */
function keyOf({ name, type }: DirectoryEntry): string {
  return `${type === "directory" ? "0" : "1"}${name.toLowerCase()}/${name}`;
}

function byKey(left: { readonly key: string }, right: { readonly key: string }): number {
  return left.key < right.key ? -1 : 1;
}

async function withStat(workspace: Workspace, folder: string, entry: DirectoryEntry): Promise<FolderEntry> {
  const { name, type } = entry;
  const nothing = { name, type, size: null, modified_at: null };
  if (type === "other") return nothing;
  try {
    const { sizeBytes, modifiedAtMs } = await workspace.stat(posix.join(folder, name));
    return {
      name,
      type,
      size: type === "file" ? sizeBytes : null,
      modified_at: formatInstant(modifiedAtMs * 1000),
    };
  } catch (error) {
    // The entry was removed after the folder was listed, or is unreadable: only its name is known.
    if (error instanceof WorkspaceError) return nothing;
    throw error;
  }
}
