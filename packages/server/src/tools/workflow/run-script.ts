import { Worker } from "node:worker_threads";
import { describeError } from "../../lib/describe-error.ts";
import {
  tooSlow,
  type AgentOrder,
  type FromScript,
  type ScriptEnd,
  type ToScript,
} from "./script-messages.ts";

export type { AgentOrder, ScriptEnd } from "./script-messages.ts";

/** What a script may do: give work to a sub-agent, and read its report. Rejects, with a sentence, when it ends otherwise. */
export type RunAgent = (order: AgentOrder) => Promise<string>;

export const maxScriptChars = 20_000;
/** The interpreter checks its deadline only now and then; a thread that is silent for this long is terminated. */
const maxSilenceMs = 5_000;
const maxHeapMb = 64;

/**
 * Runs a script in an interpreter of its own, on a thread of its own: it has no files, no network, no clock to wait for and nothing of
 * this process, and can keep nobody waiting. All that reaches it is `wf`. Null when the signal aborts.
 */
export async function runScript(
  script: string,
  runAgent: RunAgent,
  signal: AbortSignal,
): Promise<ScriptEnd | null> {
  if (script.length > maxScriptChars)
    return {
      isError: true,
      text: `The script has ${script.length} characters; at most ${maxScriptChars} are run.`,
    };
  const worker = new Worker(new URL("./script-worker.ts", import.meta.url), {
    workerData: script,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const end = Promise.withResolvers<ScriptEnd>();
  const stopped = Promise.withResolvers<null>();
  const onAbort = (): void => stopped.resolve(null);
  let late: NodeJS.Timeout | undefined;
  const expectWord = (): void => {
    clearTimeout(late);
    late = setTimeout(() => end.resolve({ isError: true, text: tooSlow }), maxSilenceMs);
  };
  let isOver = false;
  const send = (message: ToScript): void => {
    // A later end of an agent has no receiver.
    if (isOver) return;
    expectWord();
    worker.postMessage(message);
  };
  worker.on("message", (message: FromScript) => {
    if (message.type === "begins") expectWord();
    else if (message.type === "waits") clearTimeout(late);
    else if (message.type === "end") end.resolve(message.end);
    // `node --watch` sends messages of its own on the same way.
    else if (message.type === "order") {
      const { id, order } = message;
      runAgent(order).then(
        (report) => send({ id, report }),
        (error: unknown) => send({ id, error: describeError(error) }),
      );
    }
  });
  worker.on("error", (error) => end.resolve({ isError: true, text: describeError(error) }));
  worker.on("exit", () => end.resolve({ isError: true, text: "The interpreter ended before the script." }));
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([end.promise, stopped.promise]);
  } finally {
    isOver = true;
    clearTimeout(late);
    signal.removeEventListener("abort", onAbort);
    await worker.terminate();
  }
}
