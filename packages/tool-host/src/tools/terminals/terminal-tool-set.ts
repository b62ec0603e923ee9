import type { ToolDefinition } from "@convoke/protocol";
import type { ToolContext, ToolFace, ToolSet } from "../../tool.ts";
import type { ToolTraits } from "../../tool-traits.ts";
import { annotate } from "../define-tool.ts";
import { usualLimits, type TerminalToolOptions } from "../terminal/terminal-tool.ts";
import { parseTerminalParams } from "../terminal/terminal-params.ts";
import { maxTerminals, NamedTerminals, terminalName } from "./named-terminals.ts";

/** The name by which an agent gets further terminals, whose commands continue while it does other things. */
const terminalToolSetName = "terminal_tool_set";

/** Named terminals, in addition to the one of the tool `terminal`. Their actions use the contract's form for unknown tools. */
export function createTerminalToolSet(options: TerminalToolOptions = {}): ToolSet {
  const limits = { ...usualLimits, ...options };
  return {
    name: terminalToolSetName,
    faces,
    queueOf: (tool, action) => {
      const isReading = faces.some(({ name, isReadOnly }) => name === tool && isReadOnly);
      return isReading || action.kind !== "MCPToolAction" ? null : terminalName(action.data ?? {});
    },
    open: async (context) => {
      // Invalid parameters are reported by the first call, whatever it is.
      parseTerminalParams(context.params, context.environment);
      return new NamedTerminals(context, limits);
    },
  };
}

const terminal = {
  type: "string",
  description: "Name of the terminal: letters, digits, - and _, at most 32.",
};
const command = {
  type: "string",
  description:
    "The shell command to run, or, with is_input, what to type into the running program. Empty text fetches new output.",
};
const isInput = {
  type: "boolean",
  description:
    "True to send the text, or a key such as C-c, to the program that is running in this terminal.",
};
const reset = {
  type: "boolean",
  description: "True to end the shell of this terminal with everything in it and start a fresh one.",
};
const cursor = {
  type: "integer",
  description: "Read on from here; the answer before gives it. The newest output when left out.",
};

const faces: readonly ToolFace[] = [
  face({
    name: "terminal_run",
    hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
    observation: "TerminalObservation",
    traits: { shellField: "command", place: "terminal", placeField: "terminal" },
    properties: {
      terminal,
      command,
      is_input: isInput,
      background: {
        type: "boolean",
        description:
          "True for servers, watchers and long builds: the call answers after a second, and the command goes on.",
      },
      timeout: { type: "number", description: "Seconds to wait before answering; the command goes on." },
      reset,
    },
    required: ["terminal", "command"],
    description: (quietSeconds) =>
      `Run a command in a terminal with a name. Each name is a shell of its own, opened by its first command, with its own directory and variables; at most ${maxTerminals}. A command that has not ended when the call answers (exit code -1: after timeout seconds, or once it has printed nothing new for ${quietSeconds} seconds) goes on in its terminal while you work elsewhere. Use background for what is meant to last, then terminal_output to read what it prints, terminal_list to see what runs, and terminal_stop to end it. Programs that wait for input are answered with is_input. Everything ends with the conversation.`,
  }),
  face({
    name: "terminal_list",
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    properties: {},
    required: [],
    description: () =>
      "List the terminals that terminal_run has opened: what runs in each and for how long, or how the last command ended.",
  }),
  face({
    name: "terminal_output",
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    properties: {
      terminal,
      cursor,
      timeout: {
        type: "number",
        description: "Seconds to wait for something new behind the cursor, or for the end of the command.",
      },
    },
    required: ["terminal"],
    description: () =>
      "Read what was printed in a terminal with a name, from a cursor on. Reading takes nothing away: the same cursor gives the same text, as long as it is kept. The answer names the cursor to read on from.",
  }),
  face({
    name: "terminal_stop",
    hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    traits: { place: "terminal", placeField: "terminal" },
    properties: {
      terminal,
      close: {
        type: "boolean",
        description: "True to close the terminal too, with every program that was started in it.",
      },
    },
    required: ["terminal"],
    description: () =>
      "Stop the command that runs in a terminal with a name, with all that it started: C-c, then TERM, then KILL.",
  }),
];

type FaceOptions = {
  readonly name: string;
  readonly hints: Parameters<typeof annotate>[1];
  readonly observation?: string;
  readonly traits?: ToolTraits;
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
  readonly description: (quietSeconds: number) => string;
};

function face(options: FaceOptions): ToolFace {
  const { name, hints, traits, properties, required } = options;
  const parameters = { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
  return {
    name,
    actionKind: "MCPToolAction",
    isReadOnly: hints.readOnly,
    parameters,
    ...(traits === undefined ? {} : { traits: () => traits }),
    define: (context) => define(options, parameters, context),
  };
}

function define(
  { name, hints, observation = "MCPToolObservation", description }: FaceOptions,
  inputSchema: Record<string, unknown>,
  { params, environment }: ToolContext,
): ToolDefinition {
  const words = description(parseTerminalParams(params, environment).quietSeconds);
  const annotations = annotate(name, hints);
  return {
    kind: "MCPToolDefinition",
    title: name,
    description: words,
    action_type: "MCPToolAction",
    observation_type: observation,
    annotations,
    meta: null,
    mcp_tool: { name, description: words, inputSchema, annotations },
  };
}
