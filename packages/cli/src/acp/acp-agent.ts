import { randomUUID } from "node:crypto";
import { posix } from "node:path";
import {
  agent,
  PROTOCOL_VERSION,
  type AgentApp,
  type AgentContext,
  type ListSessionsResponse,
  type McpServer,
  type SessionInfo,
} from "@agentclientprotocol/sdk";
import type { ConvokeClient } from "@convoke/client";
import type { ModeId } from "./mapping.ts";
import { invalidParams, noModelAsWords, toRequestError, unknownSession } from "./session-errors.ts";
import { Session } from "./session.ts";
import { toStartRequest, type ModelChoice } from "./start-session.ts";

export type AcpAgentDeps = {
  readonly client: ConvokeClient;
  readonly version: string;
  /** Of new sessions. */
  readonly model: ModelChoice;
  /** Of new sessions, until the editor chooses another one. */
  readonly mode: ModeId;
};

const sessionsPerPage = 50;

/** Convoke as an agent of an editor: sessions are conversations of a server. Keeps the sessions that one connection has opened. */
export function createAcpAgent({ client, version, model, mode }: AcpAgentDeps): AgentApp {
  const sessions = new Map<string, Session>();
  let connection: AbortSignal | null = null;

  function opened(id: string): Session {
    const session = sessions.get(id);
    if (session === undefined) throw unknownSession(id);
    return session;
  }

  async function begin(editor: AgentContext, cwd: string, mcpServers: readonly McpServer[]) {
    const id = randomUUID();
    const start = { id, cwd: checkFolder(cwd), mcpServers, mode, model };
    try {
      await client.startConversation(toStartRequest(start));
    } catch (error) {
      throw noModelAsWords(error);
    }
    const session = new Session({ client, editor, id, cwd }, start);
    sessions.set(id, session);
    later(session);
    return { sessionId: id, ...(await session.describe()) };
  }

  /** The folder is that of the conversation, wherever the editor is. */
  async function open(editor: AgentContext, id: string): Promise<Session> {
    const { workspace } = await client.getConversation(id);
    const session = new Session({ client, editor, id, cwd: workspace.working_dir });
    sessions.get(id)?.leave();
    sessions.set(id, session);
    return session;
  }

  async function list(cwd: string | null, cursor: string | null): Promise<ListSessionsResponse> {
    const { items, next_page_id: next } = await client.searchConversations({
      limit: sessionsPerPage,
      sort_order: "UPDATED_AT_DESC",
      ...(cursor === null ? {} : { page_id: cursor }),
    });
    const shown = items.filter(
      (info) => !info.parent_conversation_id && (cwd === null || info.workspace.working_dir === cwd),
    );
    return { sessions: shown.map(toSessionInfo), ...(next ? { nextCursor: next } : {}) };
  }

  return agent({ name: "convoke" })
    .onConnect(({ closed, signal }) => {
      connection = signal;
      const leave = (): void => sessions.forEach((session) => session.leave());
      closed.then(leave, leave);
    })
    .onRequest("initialize", () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "convoke", title: "Convoke", version },
      authMethods: [],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
    }))
    .onRequest("session/new", ({ params, client: editor }) =>
      answering(() => begin(editor, params.cwd, params.mcpServers)),
    )
    .onRequest("session/load", ({ params, client: editor }) =>
      answering(async () => {
        const session = await open(editor, params.sessionId);
        await session.catchUp();
        later(session);
        return await session.describe();
      }),
    )
    .onRequest("session/resume", ({ params, client: editor }) =>
      answering(async () => {
        const session = await open(editor, params.sessionId);
        await session.skipToEnd();
        later(session);
        return await session.describe();
      }),
    )
    .onRequest("session/list", ({ params }) =>
      answering(() => list(params.cwd ?? null, params.cursor ?? null)),
    )
    .onRequest("session/prompt", ({ params, signal }) =>
      answering(async () => {
        const session = opened(params.sessionId);
        // Requests of an editor that went away are aborted too, and their runs go on.
        const cancel = (): void => {
          if (connection?.aborted !== true) void session.cancel();
        };
        signal.addEventListener("abort", cancel, { once: true });
        try {
          return { stopReason: await session.prompt(params.prompt) };
        } finally {
          signal.removeEventListener("abort", cancel);
        }
      }),
    )
    .onRequest("session/set_mode", ({ params }) =>
      answering(async () => {
        await opened(params.sessionId).setMode(params.modeId);
        return {};
      }),
    )
    .onRequest("session/set_config_option", ({ params }) =>
      answering(async () => ({
        configOptions: await opened(params.sessionId).setOption(params.configId, params.value),
      })),
    )
    .onRequest("session/close", ({ params }) =>
      answering(async () => {
        await opened(params.sessionId).cancel();
        sessions.delete(params.sessionId);
        return {};
      }),
    )
    .onRequest("session/delete", ({ params }) =>
      answering(async () => {
        await client.deleteConversation(params.sessionId);
        sessions.delete(params.sessionId);
        return {};
      }),
    )
    .onNotification("session/cancel", async ({ params }) => {
      // A session that is not open has nothing to cancel, and a notification has no answer.
      await sessions.get(params.sessionId)?.cancel();
    });
}

/** Behind the answer that opens the session: an editor knows it only then. Without skills there are no commands to show. */
function later(session: Session): void {
  setTimeout(() => {
    session.sendCommands().catch((error: unknown) => {
      console.error(`Commands cannot be listed: ${error instanceof Error ? error.message : String(error)}`);
    });
  }, 0);
}

async function answering<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw toRequestError(error);
  }
}

function checkFolder(cwd: string): string {
  if (!posix.isAbsolute(cwd))
    throw invalidParams(`cwd must be an absolute path, not ${JSON.stringify(cwd)}.`);
  return cwd;
}

function toSessionInfo({
  id,
  workspace,
  title,
  updated_at: updatedAt,
}: Awaited<ReturnType<ConvokeClient["getConversation"]>>): SessionInfo {
  return {
    sessionId: id,
    cwd: workspace.working_dir,
    title: title ?? null,
    ...(updatedAt ? { updatedAt } : {}),
  };
}
