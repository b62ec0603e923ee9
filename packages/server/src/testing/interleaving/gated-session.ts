import {
  defaultTools,
  facesOf,
  listTool,
  type Outcome,
  type ToolListing,
  type ToolSession,
} from "@convoke/tool-host";
import type { Gates } from "./gates.ts";

/** One call of a tool host. `ended` is its result; null while it runs, or for ever when its process died. */
export type Execution = {
  readonly actionId: string;
  readonly signal: AbortSignal;
  readonly ended: Promise<Outcome>;
  outcome: Outcome | null;
};

/** The disk of a tool host. */
export type ExecutionDisk = Map<string, Outcome | null>;

export type GatedSessionDeps = {
  readonly gates: Gates;
  readonly disk: ExecutionDisk;
  readonly onStart: (execution: Execution) => void;
};

const lost: Outcome = { type: "error", text: "The outcome is unknown." };

/** A tool session that fulfils its contract, with calls that end when and how the explorer decides. */
export function createGatedSession({ gates, disk, onStart }: GatedSessionDeps): ToolSession {
  const running = new Map<string, Execution>();
  const run = async (actionId: string, signal: AbortSignal): Promise<Outcome> => {
    const ending = await gates.wait("tool", () =>
      signal.aborted ? (["cancelled", "observed"] as const) : (["observed", "failed"] as const),
    );
    const outcome = toOutcome(ending);
    disk.set(actionId, outcome);
    running.delete(actionId);
    return outcome;
  };
  return {
    tools: listings(),
    state: async (actionId) => {
      if (running.has(actionId)) return { type: "running" };
      const known = disk.get(actionId);
      if (known === undefined) return { type: "unknown" };
      return known === null ? { type: "lost" } : { type: "finished", outcome: known };
    },
    execute: async ({ actionId }, { signal = new AbortController().signal } = {}) => {
      const known = running.get(actionId)?.ended ?? disk.get(actionId);
      if (known !== undefined) return known === null ? lost : await known;
      if (signal.aborted) return { type: "cancelled", text: "Cancelled before it started." };
      disk.set(actionId, null);
      const ended = run(actionId, signal);
      const execution: Execution = { actionId, signal, ended, outcome: null };
      running.set(actionId, execution);
      onStart(execution);
      execution.outcome = await ended;
      return execution.outcome;
    },
    cancel: async () => {},
    terminals: async () => [],
    attach: async function* () {},
    attachBrowser: async function* () {},
    [Symbol.asyncDispose]: async () => {},
  };
}

function toOutcome(ending: "observed" | "failed" | "cancelled"): Outcome {
  if (ending !== "observed") return { type: ending === "failed" ? "error" : "cancelled", text: ending };
  const content = [{ type: "text" as const, text: "observed", cache_prompt: false }];
  return { type: "observation", observation: { kind: "ThinkObservation", content, is_error: false } };
}

function listings(): ToolListing[] {
  const context = {
    sessionId: "session",
    workspaceDir: "/",
    stateDir: "/",
    environment: {},
    params: {},
    canSee: false,
  };
  return defaultTools()
    .filter(({ name }) => ["terminal", "file_editor", "finish"].includes(name))
    .flatMap((tool) => facesOf(tool).map((face) => listTool(face, context)));
}
