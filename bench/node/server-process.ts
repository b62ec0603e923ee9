import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type {
  ReadOptions,
  ServerAddress,
  ServerReading,
  ServerReport,
  ServerRequest,
} from "./server-child.ts";

/** A whole server in a process of its own, so that what it holds and how long it stalls is its own. */
export type ServerProcess = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  readonly key: string;
  /** Absolute; tools and uploads may write here. */
  readonly workDir: string;
  /** Starts counting anew. */
  readonly watch: () => Promise<void>;
  /** What was seen since; garbage is collected first if asked for. */
  readonly read: (options?: ReadOptions) => Promise<ServerReading>;
};

export async function startServerProcess(): Promise<ServerProcess> {
  const child = fork(new URL("./server-child.ts", import.meta.url), [], { execArgv: ["--expose-gc"] });
  const { url, key, workDir } = (await nextReport(child)) as ServerAddress;
  const ask = async (request: ServerRequest): Promise<ServerReport> => {
    child.send(request);
    return await nextReport(child);
  };
  return {
    url,
    port: Number(new URL(url).port),
    key,
    workDir,
    watch: async () => {
      await ask({ type: "watch" });
    },
    read: async (options = { isCollected: false }) =>
      (await ask({ type: "read", ...options })) as ServerReading,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

async function nextReport(child: ChildProcess): Promise<ServerReport> {
  const died = once(child, "exit").then(() => {
    throw new Error("The server of the bench ended.");
  });
  died.catch(() => {});
  const [report] = (await Promise.race([once(child, "message"), died])) as [ServerReport];
  return report;
}
