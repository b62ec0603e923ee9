import { parentPort, workerData } from "node:worker_threads";
import type {
  QuickJSContext,
  QuickJSDeferredPromise,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
} from "quickjs-emscripten-core";
import { describeError } from "../../lib/describe-error.ts";
import { tooSlow, type FromScript, type ToScript } from "./script-messages.ts";
import { workflowApi } from "./workflow-api.ts";

/** Of one stretch without waiting, and of all together. */
const maxStretchMs = 1_000;
const maxTotalMs = 10_000;
const maxMemoryBytes = 32 * 1024 * 1024;
const maxStackBytes = 256 * 1024;

/** One script at work. Nothing of it is given back: the thread ends with it. */
class ScriptMachine {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  /** What the script waits for. */
  readonly #orders = new Map<number, QuickJSDeferredPromise>();
  #lastId = 0;
  #stretchEndMs = 0;
  #leftMs = maxTotalMs;

  constructor(interpreter: QuickJSWASMModule) {
    this.#runtime = interpreter.newRuntime();
    this.#runtime.setMemoryLimit(maxMemoryBytes);
    this.#runtime.setMaxStackSize(maxStackBytes);
    this.#runtime.setInterruptHandler(() => performance.now() > this.#stretchEndMs);
    this.#context = this.#runtime.newContext();
    this.#define("__run", (prompt, type, description) => this.#order(prompt, type, description));
    this.#define("__done", (value) => this.#finish(false, this.#text(value)));
    this.#define("__failed", (value) => this.#finish(true, this.#text(value)));
  }

  run(script: string): void {
    this.#within(() => {
      this.#evaluate(workflowApi, "api.js");
      this.#evaluate(script, "script.js");
      this.#evaluate(start, "start.js");
    });
  }

  answer(message: ToScript): void {
    const waiting = this.#orders.get(message.id);
    if (waiting === undefined) return;
    this.#orders.delete(message.id);
    const context = this.#context;
    this.#within(() => {
      if ("report" in message) context.newString(message.report).consume((handle) => waiting.resolve(handle));
      else context.newError(message.error).consume((handle) => waiting.reject(handle));
    });
  }

  #order(...given: (QuickJSHandle | undefined)[]): QuickJSHandle {
    const [prompt = "", subagentType = "", description = ""] = given.map((handle) => this.#text(handle));
    const id = (this.#lastId += 1);
    const answer = this.#context.newPromise();
    this.#orders.set(id, answer);
    say({ type: "order", id, order: { prompt, subagentType, description: description || null } });
    return answer.handle;
  }

  #text(handle: QuickJSHandle | undefined): string {
    const value: unknown = handle === undefined ? "" : this.#context.dump(handle);
    return typeof value === "string" ? value : "";
  }

  #define(name: string, call: (...given: QuickJSHandle[]) => QuickJSHandle | void): void {
    const context = this.#context;
    context.newFunction(name, call).consume((handle) => context.setProp(context.global, name, handle));
  }

  #finish(isError: boolean, text: string): void {
    const isLate = isError && performance.now() > this.#stretchEndMs;
    say({ type: "end", end: { isError, text: isLate ? tooSlow : text } });
  }

  #evaluate(code: string, name: string): void {
    this.#context.unwrapResult(this.#context.evalCode(code, name)).dispose();
  }

  /** Does something, and then all that has become possible by it; the script waits again when that is done. */
  #within(work: () => void): void {
    const startedMs = performance.now();
    this.#stretchEndMs = startedMs + Math.min(maxStretchMs, this.#leftMs);
    try {
      work();
      const done = this.#runtime.executePendingJobs();
      if (done.error !== undefined) this.#context.unwrapResult(done);
    } catch (error) {
      this.#finish(true, error instanceof Error ? `${error.name}: ${error.message}` : describeError(error));
    } finally {
      this.#leftMs -= performance.now() - startedMs;
    }
    say({ type: "waits" });
  }
}

/** The script's own function, once everything is defined. */
const start = `{
  const entry = typeof main === "function" ? main : undefined;
  if (entry === undefined) throw new Error("The script must define async function main(wf).");
  const asText = (value) => (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value, null, 2));
  const [done, failed] = [__done, __failed];
  delete globalThis.__done;
  delete globalThis.__failed;
  Promise.resolve()
    .then(() => entry(wf))
    .then(asText)
    .then(done, (error) => failed(error instanceof Error ? error.message : asText(error)));
}`;

/** Half a megabyte that few conversations need. */
async function loadInterpreter(): Promise<QuickJSWASMModule> {
  const [{ newQuickJSWASMModuleFromVariant }, { default: variant }] = await Promise.all([
    import("quickjs-emscripten-core"),
    import("@jitl/quickjs-singlefile-mjs-release-sync"),
  ]);
  return await newQuickJSWASMModuleFromVariant(variant);
}

function say(message: FromScript): void {
  parentPort!.postMessage(message);
}

const machine = new ScriptMachine(await loadInterpreter());
parentPort!.on("message", (message: ToScript) => machine.answer(message));
say({ type: "begins" });
machine.run(workerData as string);
