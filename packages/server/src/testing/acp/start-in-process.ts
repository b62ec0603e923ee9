import { PassThrough, Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import type { PipedProcess, ProcessEnd, ProcessSpec } from "@convoke/tool-host";
import type { AgentScript } from "./agent-script.ts";
import { createScriptedAgent } from "./scripted-agent.ts";

export type StartedAgents = {
  /** What the agents were asked, in order. */
  readonly calls: { readonly method: string; readonly params: unknown }[];
  readonly specs: ProcessSpec[];
  startProcess(spec: ProcessSpec): PipedProcess;
};

/** Scripted agents in this process, in the place of programs: the n-th start plays the n-th script, and the last one from then on. */
export function startInProcess(...scripts: readonly [AgentScript, ...AgentScript[]]): StartedAgents {
  const calls: { method: string; params: unknown }[] = [];
  const specs: ProcessSpec[] = [];
  return {
    calls,
    specs,
    startProcess: (spec) => {
      const script = scripts[Math.min(specs.length, scripts.length - 1)]!;
      specs.push(spec);
      return start(script, calls);
    },
  };
}

function start(script: AgentScript, calls: StartedAgents["calls"]): PipedProcess {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = Promise.withResolvers<ProcessEnd>();
  const exit = (exitCode: number): void => {
    output.end();
    ended.resolve({ exitCode, signal: null, errorText: "its last words" });
  };
  const connection = createScriptedAgent(script, { calls, exit }).connect(
    ndJsonStream(
      Writable.toWeb(output) as WritableStream<Uint8Array>,
      Readable.toWeb(input) as ReadableStream<Uint8Array>,
    ),
  );
  return {
    input,
    output,
    ended: ended.promise,
    [Symbol.asyncDispose]: async () => {
      connection.close();
      exit(143);
    },
  };
}
