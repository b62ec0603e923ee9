import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The fault at the chosen passage of a point. */
type Failure =
  | { readonly type: "kill" }
  | { readonly type: "delay"; readonly ms: number }
  | { readonly type: "error"; readonly code: string };

type Armed = { readonly failure: Failure; readonly passage: number };

/**
 * Named points at which a process can be made to fail. Configured by a text such as
 * `append.after=kill:3,tool.before=delay:500:1,append.before=error:ENOSPC:2`: at the n-th passage kill this process, wait some
 * milliseconds, or throw. Passages are counted from 1 per point; each fault happens once.
 */
export class FailPoints {
  readonly #armed = new Map<string, Armed>();
  readonly #passages = new Map<string, number>();
  readonly #traceFile: string | null;

  /** Every passage appends a line `name number` to `traceFile`, if given, and the end of a delay `name number over`. */
  constructor(spec: string, traceFile: string | null = null) {
    for (const part of spec === "" ? [] : spec.split(",")) {
      const [name = "", rest = ""] = part.split("=");
      this.#armed.set(name, parseArmed(part, rest));
    }
    this.#traceFile = traceFile;
  }

  async pass(name: string): Promise<void> {
    const passage = (this.#passages.get(name) ?? 0) + 1;
    this.#passages.set(name, passage);
    if (this.#traceFile !== null) appendFileSync(this.#traceFile, `${name} ${passage}\n`);
    const armed = this.#armed.get(name);
    if (armed?.passage !== passage) return;
    switch (armed.failure.type) {
      case "kill":
        process.kill(process.pid, "SIGKILL");
        // The signal has been delivered by now; nothing may happen after it.
        await new Promise(() => {});
        return;
      case "delay":
        await sleep(armed.failure.ms);
        if (this.#traceFile !== null) appendFileSync(this.#traceFile, `${name} ${passage} over\n`);
        return;
      case "error":
        throw Object.assign(new Error(`${armed.failure.code}: failure at ${name}`), {
          code: armed.failure.code,
        });
    }
  }
}

function parseArmed(part: string, rest: string): Armed {
  const words = rest.split(":");
  const passage = Number(words.pop());
  const [type, argument = ""] = words;
  if (Number.isInteger(passage) && passage > 0) {
    if (type === "kill") return { failure: { type }, passage };
    if (type === "delay" && Number(argument) > 0) return { failure: { type, ms: Number(argument) }, passage };
    if (type === "error" && argument !== "") return { failure: { type, code: argument }, passage };
  }
  throw new Error(`"${part}" arms no fail point. Write name=kill:n, name=delay:ms:n or name=error:CODE:n.`);
}
