import type { Action, TerminalAction } from "@convoke/protocol";
import type { TerminalInfo, Tool, ToolContext, ToolInstance } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { attachTerminal } from "./attach-terminal.ts";
import type { TerminalSession } from "./terminal-session.ts";
import { describeTerminal } from "./describe-terminal.ts";
import { openTerminalSession, type TerminalLimits } from "./open-terminal-session.ts";
import { parseTerminalParams } from "./terminal-params.ts";
import { TerminalRecord } from "./terminal-record.ts";

export type TerminalToolOptions = Partial<TerminalLimits>;

export const usualLimits: TerminalLimits = { longestSeconds: 600, maxCharacters: 64_000_000 };

/** The terminal's name in a conversation. */
export const mainTerminal = "main";

/** The bash terminal of a conversation. */
export const terminalTool: Tool = createTerminalTool();

/** The bash terminal with limits other than the defaults. */
export function createTerminalTool(options: TerminalToolOptions = {}): Tool {
  const limits = { ...usualLimits, ...options };
  return {
    name: "terminal",
    actionKind: "TerminalAction",
    terminal: mainTerminal,
    isReadOnly: false,
    traits: () => ({ shellField: "command" }),
    define: (context) => {
      const { quietSeconds } = parseTerminalParams(context.params, context.environment);
      const description = describeTerminal({ quietSeconds, longestSeconds: limits.longestSeconds });
      const hints = { readOnly: false, destructive: true, idempotent: false, openWorld: true };
      return defineTool("Terminal", "terminal", description, annotate("terminal", hints));
    },
    open: (context) => openTerminal(context, limits),
  };
}

async function openTerminal(context: ToolContext, limits: TerminalLimits): Promise<ToolInstance> {
  const record = new TerminalRecord(0);
  const session = await openTerminalSession(context, limits, { folder: "terminal", record, goesOn: false });
  return {
    execute: (action: Action, call) => session.execute(action as TerminalAction, call),
    terminals: () => [toTerminalInfo(mainTerminal, session, false)],
    terminal: (name) =>
      name === mainTerminal ? (inputs, signal) => attachTerminal(session, inputs, signal) : undefined,
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

/** State of a terminal; one that a person watches stays open too. */
export function toTerminalInfo(name: string, session: TerminalSession, keepsRunning: boolean): TerminalInfo {
  const { info, view } = session;
  const { isLent } = session.loans;
  const isKept = isLent || view.isWatched || (keepsRunning && info.isRunning);
  return { name, ...info, isLent, isKept };
}
