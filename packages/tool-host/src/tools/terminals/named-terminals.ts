import type { Action, MCPToolObservation, Observation, TerminalAction } from "@convoke/protocol";
import { join } from "node:path";
import type { AttachTerminal } from "../../terminal-attachment.ts";
import { ToolInputError } from "../../tool.ts";
import type { TerminalInfo, ToolCall, ToolContext, ToolInstance } from "../../tool.ts";
import { textLimits } from "../../text/truncate.ts";
import { textPart } from "../observation-content.ts";
import { attachTerminal } from "../terminal/attach-terminal.ts";
import { openTerminalSession, type TerminalLimits } from "../terminal/open-terminal-session.ts";
import { TerminalRecord } from "../terminal/terminal-record.ts";
import type { TerminalSession } from "../terminal/terminal-session.ts";
import { mainTerminal, toTerminalInfo } from "../terminal/terminal-tool.ts";
import { argumentsOf, readFlag, readNumber, readText } from "./read-arguments.ts";

/** Maximum number of named terminals that are open at once. */
export const maxTerminals = 8;

/** Seconds in which a background command may fail immediately. */
const backgroundSeconds = 1;

/** Characters of each terminal for readers with a cursor. */
const recordCharacters = 1_000_000;

/** Characters shown without a cursor. */
const newestCharacters = 10_000;

type Named = { readonly record: TerminalRecord; readonly session: Promise<TerminalSession> };
type Open = { readonly record: TerminalRecord; readonly session: TerminalSession };

/** The named terminals of one conversation. Calls for different ones may overlap, and so may read-only calls. */
export class NamedTerminals implements ToolInstance {
  readonly #context: ToolContext;
  readonly #limits: TerminalLimits;
  readonly #opening = new Map<string, Named>();
  readonly #open = new Map<string, Open>();

  constructor(context: ToolContext, limits: TerminalLimits) {
    this.#context = context;
    this.#limits = limits;
  }

  async execute(action: Action, call: ToolCall): Promise<Observation> {
    switch (call.tool) {
      case "terminal_run":
        return this.#run(action, call);
      case "terminal_list":
        argumentsOf(action, []);
        return words(call, this.#list());
      case "terminal_output":
        return this.#output(action, call);
      default:
        return this.#stop(action, call);
    }
  }

  terminals(): readonly TerminalInfo[] {
    return [...this.#open].map(([name, { session }]) => toTerminalInfo(name, session, true));
  }

  terminal(name: string): AttachTerminal | undefined {
    const session = this.#open.get(name)?.session;
    return session === undefined ? undefined : (inputs, signal) => attachTerminal(session, inputs, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#opening.values()];
    this.#opening.clear();
    this.#open.clear();
    // A terminal that could not be opened left nothing, and was reported to its caller.
    await Promise.all(
      all.map(async ({ session }) => (await session.catch(() => null))?.[Symbol.asyncDispose]()),
    );
  }

  async #run(action: Action, call: ToolCall): Promise<Observation> {
    const fields = ["terminal", "command", "is_input", "background", "timeout", "reset"];
    const given = argumentsOf(action, fields);
    const name = readName(given);
    const isInput = readFlag(given, "is_input");
    const isBackground = readFlag(given, "background");
    if (isBackground && isInput)
      throw new ToolInputError(
        "background and is_input cannot be combined: what is typed starts no command.",
      );
    const timeout = readNumber(given, "timeout") ?? (isBackground ? backgroundSeconds : null);
    const terminalAction: TerminalAction = {
      kind: "TerminalAction",
      command: readText(given, "command"),
      is_input: isInput,
      timeout,
      reset: readFlag(given, "reset"),
    };
    const { session } = await this.#openNamed(name);
    return session.execute(terminalAction, call);
  }

  #list(): string {
    const open = this.terminals();
    if (open.length === 0) return "No terminal with a name is open. terminal_run opens one.";
    return open
      .map((info) => `${info.name}: ${stateOf(info)} Cursor: ${this.#open.get(info.name)?.record.end}.`)
      .join("\n");
  }

  async #output(action: Action, call: ToolCall): Promise<Observation> {
    const given = argumentsOf(action, ["terminal", "cursor", "timeout"]);
    const name = readName(given);
    const { record, session } = this.#find(name);
    const cursor = readNumber(given, "cursor");
    const timeout = Math.min(readNumber(given, "timeout") ?? 0, this.#limits.longestSeconds);
    const from = cursor ?? Math.max(0, record.end - newestCharacters);
    const over = AbortSignal.any([call.signal, AbortSignal.timeout(timeout * 1000)]);
    const before = cursor ?? record.end;
    while (!over.aborted && session.info.isRunning && record.end <= before) await record.untilChanged(over);
    const page = record.read(from, textLimits.terminal);
    const isAtEnd = page.next === page.end;
    const open = isAtEnd ? await session.openText() : "";
    const lost = page.from > from ? `[What was printed before ${page.from} is no longer kept.]\n` : "";
    const rest = isAtEnd ? "" : ` ${page.end - page.next} more characters are there.`;
    const state = stateOf(session.info);
    return words(call, `${lost}${page.text}${open}\n[${name}: ${state} Next cursor: ${page.next}.${rest}]`);
  }

  async #stop(action: Action, call: ToolCall): Promise<Observation> {
    const given = argumentsOf(action, ["terminal", "close"]);
    const name = readName(given);
    const { session } = this.#find(name);
    const stopped = await session.stop(call);
    const isClosed = readFlag(given, "close");
    if (isClosed) {
      this.#opening.delete(name);
      this.#open.delete(name);
      await session[Symbol.asyncDispose]();
    }
    const { command } = session.info;
    const lead = stopped === null ? "Nothing was running." : `Stopped: ${command}`;
    const end = (stopped?.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
    const shown = end === "" ? "" : `\nThe end of its output:\n${end.slice(-newestCharacters)}`;
    return words(call, `${lead}${isClosed ? " The terminal is closed." : ""}${shown}`);
  }

  async #openNamed(name: string): Promise<Open> {
    const known = this.#opening.get(name);
    const named = known ?? this.#start(name);
    try {
      const open = { record: named.record, session: await named.session };
      if (this.#opening.get(name) === named) this.#open.set(name, open);
      return open;
    } catch (error) {
      if (this.#opening.get(name) === named) this.#opening.delete(name);
      throw error;
    }
  }

  #start(name: string): Named {
    if (this.#opening.size >= maxTerminals) {
      throw new ToolInputError(
        `terminal: ${maxTerminals} terminals are open (${[...this.#opening.keys()].join(", ")}). Use one of them, or close one with terminal_stop.`,
      );
    }
    const record = new TerminalRecord(recordCharacters);
    const folder = join("terminals", name);
    const session = openTerminalSession(this.#context, this.#limits, { folder, record, goesOn: true });
    const named = { record, session };
    this.#opening.set(name, named);
    return named;
  }

  #find(name: string): Open {
    const open = this.#open.get(name);
    if (open !== undefined) return open;
    const names = [...this.#open.keys()].join(", ") || "none";
    throw new ToolInputError(`terminal: there is no terminal "${name}". Open: ${names}.`);
  }
}

/** The name as given, for ordering calls; the call itself rejects an invalid one. */
export function terminalName(given: Readonly<Record<string, unknown>>): string {
  const { terminal } = given;
  return typeof terminal === "string" ? terminal : "";
}

function readName(given: Readonly<Record<string, unknown>>): string {
  const name = readText(given, "terminal");
  if (!/^[a-zA-Z0-9][\w-]{0,31}$/.test(name))
    throw new ToolInputError("terminal: must be a name of letters, digits, - and _, at most 32 long.");
  if (name === mainTerminal)
    throw new ToolInputError(
      `terminal: "${mainTerminal}" is that of the tool terminal. Choose another name.`,
    );
  return name;
}

function stateOf({
  command,
  startedAtMs,
  isRunning,
  exitCode,
}: Pick<TerminalInfo, "command" | "startedAtMs" | "isRunning" | "exitCode">): string {
  if (command === null || startedAtMs === null) return "nothing was run.";
  if (!isRunning) return `ended with exit code ${exitCode}: ${command}`;
  return `running for ${Math.round((Date.now() - startedAtMs) / 1000)} s: ${command}`;
}

function words({ tool }: ToolCall, text: string): MCPToolObservation {
  return { kind: "MCPToolObservation", content: [textPart(text)], is_error: false, tool_name: tool };
}
