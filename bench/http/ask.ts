import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { RequestPlan, RequestReport } from "./request-thread.ts";

/** Sends the requests from a separate thread, so that clients do not use the server's event loop. */
export async function ask(plan: RequestPlan): Promise<RequestReport> {
  const thread = new Worker(new URL("./request-thread.ts", import.meta.url), { workerData: plan });
  const [report] = (await once(thread, "message")) as [RequestReport];
  await thread.terminate();
  return report;
}
