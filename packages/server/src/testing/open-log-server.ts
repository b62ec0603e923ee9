import { join } from "node:path";
import { ConvokeClient } from "@convoke/client";
import { createInProcessHost } from "@convoke/tool-host";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { readConfig } from "../boot/config.ts";
import { socketTimes, type SocketTimes } from "../faces/agent-server/sockets/socket-times.ts";
import type { Journal, Lease, NewEvent } from "../journal/journal.ts";
import { silentLogger } from "../lib/logger.ts";
import { openServer } from "../boot/open-server.ts";
import { createQuickTools } from "./quick-tools.ts";

/** A server in this process, with one conversation whose log the test writes itself. */
export type LogServer = AsyncDisposable & {
  readonly port: number;
  readonly url: string;
  readonly key: string;
  readonly client: ConvokeClient;
  readonly journal: Journal;
  readonly conversationId: string;
  /** Appends the events to the log; resolves when they are durable. */
  append(events: readonly NewEvent[]): Promise<void>;
};

export async function openLogServer(times: Partial<SocketTimes> = {}): Promise<LogServer> {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await openTemporaryDirectory());
  const key = "log-server-key";
  const captured: Journal[] = [];
  const server = scope.use(
    await openServer({
      config: {
        ...readConfig({}, { host: "127.0.0.1", port: 0, dataDir: join(folder.path, "data") }),
        workspaceRoot: folder.path,
        sessionApiKeys: [key],
      },
      toolHost: createInProcessHost({ tools: createQuickTools().tools, environment: {} }),
      logger: silentLogger,
      times: { ...socketTimes, ...times },
      wrap: {
        journal: (journal) => {
          captured.push(journal);
          return journal;
        },
        model: (model) => model,
      },
    }),
  );
  const [journal] = captured as [Journal];
  const client = new ConvokeClient({ baseUrl: server.url, apiKey: key });
  const { id } = await client.startConversation({
    agent: { kind: "Agent", llm: { model: "openai/none", api_key: "none" }, tools: [] },
    workspace: { kind: "LocalWorkspace", working_dir: "work" },
  });
  // An empty change loads the actor, which claims the log; after that the test can take it over.
  await client.setSecurityAnalyzer(id, null);
  const lease: Lease = await journal.claim(id);
  let lastSeq = await journal.lastSeq(id);
  const owned = scope.move();
  return {
    port: Number(new URL(server.url).port),
    url: server.url,
    key,
    client,
    journal,
    conversationId: id,
    append: async (events) => {
      const expectedSeq = lastSeq;
      lastSeq += events.length;
      await journal.append(lease, { expectedSeq, events });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
