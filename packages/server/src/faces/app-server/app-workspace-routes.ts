import { WorkspaceError, type Workspace } from "@convoke/tool-host";
import type { appWorkspaceRoutes } from "@convoke/protocol";
import { archiveConversation, maxArchivedEvents } from "../../app-conversations/conversation-archive.ts";
import { secretValues, sparedTexts } from "../../engine/secret-values.ts";
import { conversationIdOf } from "../../http/asked-conversation.ts";
import type { RouteRequest, Handlers } from "../../http/mount.ts";
import { collectBytes } from "../../lib/collect-bytes.ts";
import { Fault } from "../../lib/fault.ts";
import { createMask } from "../../security/mask.ts";
import type { FaceDeps } from "../face-deps.ts";
import { toAppConversation, toHex } from "./app-conversation-view.ts";
import { resolveInside, usualWorkspace } from "./resolve-inside.ts";
import { sandboxGate } from "./sandbox-gate.ts";

/** The maximum size of a file in an answer. */
const maxFileBytes = 4 * 1024 * 1024;

/** The files in a conversation's sandbox, and the conversation as an archive. */
export function appWorkspaceHandlers({ appConversations: { conversations }, sandboxes, journal }: FaceDeps) {
  /** Conversations that are being downloaded. */
  const downloading = new Set<string>();

  async function open(request: RouteRequest) {
    const host = await conversations.openHost(request.caller, conversationIdOf(request));
    // Others may work in the same sandbox, and a key of one conversation is not for them.
    const isForOne = request.caller.onlyConversation !== undefined;
    const root = isForOne ? host.workingDir : host.workspaceDir;
    return {
      workspace: host.toolHost.workspace.within(root),
      resolve: (path: string) => resolveInside(path, { ...host, root }),
    };
  }

  return {
    readAppFile: async (request) => {
      await conversations.get(request.caller, conversationIdOf(request));
      const { file_path: path } = request.query;
      try {
        const { workspace, resolve } = await open(request);
        return { json: await readText(workspace, resolve(path ?? `${usualWorkspace}/project/PLAN.md`)) };
      } catch (error) {
        // Clients ask for optional files: failures of the file system count as no text; bugs are still thrown.
        if (error instanceof WorkspaceError || error instanceof Fault) return { json: "" };
        throw error;
      }
    },

    getAppGitChanges: async (request) => {
      const { path, ref } = request.query;
      const { workspace, resolve } = await open(request);
      return { json: await asked(workspace.gitChanges(resolve(path), ref ?? undefined)) };
    },

    getAppGitDiff: async (request) => {
      const { path, ref } = request.query;
      const { workspace, resolve } = await open(request);
      return { json: await asked(workspace.gitDiff(resolve(path), typeof ref === "string" ? { ref } : {})) };
    },

    downloadAppConversation: async (request) => {
      const id = conversationIdOf(request);
      const view = await conversations.get(request.caller, id);
      if (view.described.state.lastSeq > maxArchivedEvents) {
        throw new Fault(
          "too-large",
          "conversation_too_large",
          `The conversation has more than ${maxArchivedEvents} events. Read them page by page.`,
        );
      }
      if (downloading.has(id)) {
        throw new Fault(
          "too-many",
          "download_in_progress",
          "This conversation is being downloaded already. Wait for the end of it.",
        );
      }
      downloading.add(id);
      const { session_api_key: _key, ...shown } = toAppConversation(view, sandboxGate(request, sandboxes));
      const stream = archiveConversation({
        journal,
        conversationId: id,
        meta: JSON.stringify(shown, null, 2),
        mask: createMask(secretValues(view.described.secrets), sparedTexts(view.described.config)),
      });
      stream.once("close", () => downloading.delete(id));
      return {
        stream,
        contentType: "application/zip",
        headers: { "content-disposition": `attachment; filename="conversation_${toHex(id)}.zip"` },
      };
    },
  } satisfies Handlers<typeof appWorkspaceRoutes>;
}

async function readText(workspace: Workspace, path: string): Promise<string> {
  const { stat, content } = await workspace.readFile(path, { start: 0, end: maxFileBytes - 1 });
  if (stat.sizeBytes > maxFileBytes) content.destroy();
  const bytes = content.destroyed ? null : await collectBytes(content, maxFileBytes);
  if (bytes === null) throw new WorkspaceError("too-large", `${path} is larger than ${maxFileBytes} bytes.`);
  return bytes.toString("utf8");
}

/** A wrong path or ref is the caller's mistake. */
async function asked<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    throw new Fault("caller", "validation", error.message, [
      { loc: ["query", error.code === "bad-ref" ? "ref" : "path"], msg: error.message, type: "value_error" },
    ]);
  }
}
