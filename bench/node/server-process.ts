import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type {
  ReadOptions,
  ServerAddress,
  ServerReading,
  ServerReport,
  ServerRequest,
} from "./server-child.ts";

/** A whole server in a separate process, so that its memory and stalls are its own. */
export type ServerProcess = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  readonly key: string;
  /** Absolute path where tools and uploads may write. */
  readonly workDir: string;
  /** Resets the counters. */
  readonly watch: () => Promise<void>;
  /** The counters since the reset; collects garbage first if requested. */
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
