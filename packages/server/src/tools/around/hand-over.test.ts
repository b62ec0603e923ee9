import type { ExecuteOptions, Outcome } from "@convoke/tool-host";
import { beforeEach, expect, test } from "vitest";
import { LeftOpenError } from "../../engine/run/executions.ts";
import type { ToolSource } from "../tool-source.ts";
import { leaveToHost } from "./hand-over.ts";

const request = {
  actionId: "a",
  tool: "terminal",
  action: { kind: "TerminalAction", command: "make" },
  secrets: [],
} as const;
const cancelled: Outcome = { type: "cancelled", text: "It was stopped." };

let calls: string[];
let handedOver: AbortController;
let outcome: PromiseWithResolvers<Outcome>;
let source: ToolSource;
beforeEach(() => {
  calls = [];
  handedOver = new AbortController();
  outcome = Promise.withResolvers();
  const host = {
    execute: async (_request: unknown, { signal }: ExecuteOptions = {}) => {
      calls.push("begun");
      const stop = (): void => {
        calls.push("stopped");
        outcome.resolve(cancelled);
      };
      if (signal?.aborted === true) stop();
      signal?.addEventListener("abort", stop);
      return await outcome.promise;
    },
    [Symbol.asyncDispose]: async () => void calls.push("closed"),
  };
  source = leaveToHost(host as unknown as ToolSource, handedOver.signal);
});

test("a stop reaches the tool, and a session that nobody takes over is closed", async () => {
  const stop = new AbortController();
  const call = source.execute(request, { signal: stop.signal });
  stop.abort();
  expect(await call).toEqual(cancelled);
  await source[Symbol.asyncDispose]();
  expect(calls).toEqual(["begun", "stopped", "closed"]);
});

test("a call that was stopped before it began is told so", async () => {
  expect(await source.execute(request, { signal: AbortSignal.abort() })).toEqual(cancelled);
});

test("what is handed over is left open, goes on and is not closed", async () => {
  const stop = new AbortController();
  const call = source.execute(request, { signal: stop.signal });
  handedOver.abort();
  stop.abort();
  await expect(call).rejects.toBeInstanceOf(LeftOpenError);
  await expect(source.execute(request)).rejects.toBeInstanceOf(LeftOpenError);
  await source[Symbol.asyncDispose]();
  expect(calls).toEqual(["begun"]);
});
