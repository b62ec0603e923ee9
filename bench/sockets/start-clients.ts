import { Worker } from "node:worker_threads";
import type { ClientPlan, ClientReport } from "./client-thread.ts";

export type Clients = AsyncDisposable & {
  /** Resolves when every socket has received this many events. */
  readonly have: (events: number) => Promise<void>;
};

/** Opens the sockets in a separate thread, so that clients do not use the server's event loop; resolves when all are open. */
export async function startClients(plan: ClientPlan): Promise<Clients> {
  const thread = new Worker(new URL("./client-thread.ts", import.meta.url), { workerData: plan });
  const opened = Promise.withResolvers<void>();
  let reached = 0;
  let waiting: { readonly events: number; readonly resolve: () => void }[] = [];
  const failed = new Promise<never>((_resolve, reject) => thread.once("error", reject));
  thread.on("message", (report: ClientReport) => {
    if (report.type === "open") opened.resolve();
    else {
      reached = report.events;
      for (const { resolve } of waiting.filter(({ events }) => events <= reached)) resolve();
      waiting = waiting.filter(({ events }) => events > reached);
    }
  });
  await Promise.race([opened.promise, failed]);
  return {
    have: async (events) => {
      if (events <= reached) return;
      await Promise.race([new Promise<void>((resolve) => waiting.push({ events, resolve })), failed]);
    },
    [Symbol.asyncDispose]: async () => {
      await thread.terminate();
    },
  };
}
