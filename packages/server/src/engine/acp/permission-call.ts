import type { Action, SecurityRisk } from "@convoke/protocol";
import type { ToolCallUpdate } from "@agentclientprotocol/sdk";
import { isObject } from "../../lib/json-object.ts";
import { toCommandLine } from "../../lib/quote-word.ts";

/** A call of another agent in the form of our own tools, so that rules, analyzers and people read it as they read ours. */
export type PermissionCall = {
  readonly toolName: string;
  readonly action: Action;
  readonly runsShell: boolean;
  readonly isReadOnly: boolean;
  readonly predictedRisk: SecurityRisk | null;
};

const fileKinds = new Set(["edit", "delete", "move"]);

/**
 * A command becomes a call of `terminal`, a change of a file one of `file_editor`. Everything else is a call of `acp_<kind>` with its
 * title and input, for rules by these names.
 */
export function toPermissionCall(call: ToolCallUpdate): PermissionCall {
  const kind = call.kind ?? "other";
  // That a call only reads is the word of a stranger.
  const facts = { runsShell: false, isReadOnly: false, predictedRisk: null };
  const command = kind === "execute" || kind === "other" ? commandIn(call.rawInput) : null;
  if (command !== null)
    return {
      ...facts,
      toolName: "terminal",
      runsShell: true,
      action: { kind: "TerminalAction", command, is_input: false, timeout: null, reset: false },
    };
  const edit = fileKinds.has(kind) ? editIn(call) : null;
  if (edit !== null) return { ...facts, toolName: "file_editor", action: edit };
  return {
    ...facts,
    toolName: `acp_${kind}`,
    action: {
      kind: "MCPToolAction",
      data: {
        tool_kind: kind,
        ...given("title", call.title),
        ...given("path", pathOf(call)),
        ...given("input", call.rawInput),
      },
    },
  };
}

function given(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === undefined || value === null ? {} : { [name]: value };
}

function commandIn(input: unknown): string | null {
  if (!isObject(input)) return null;
  const given = input["command"] ?? input["cmd"];
  if (typeof given === "string") return given;
  const isWords = Array.isArray(given) && given.length > 0 && given.every((word) => typeof word === "string");
  return isWords ? toCommandLine(given) : null;
}

function editIn(call: ToolCallUpdate): Action | null {
  const diff = (call.content ?? []).find((part) => part.type === "diff");
  const path = diff?.path ?? pathOf(call);
  if (path === null || path === undefined) return null;
  const old = diff?.oldText ?? null;
  const change =
    diff === undefined || old === null || old === ""
      ? { command: "create", file_text: diff?.newText ?? "" }
      : { command: "str_replace", old_str: old, new_str: diff.newText };
  return { kind: "FileEditorAction", path, ...change } as Action;
}

function pathOf({ locations, rawInput }: ToolCallUpdate): string | null {
  const [first] = locations ?? [];
  if (first !== undefined) return first.path;
  if (!isObject(rawInput)) return null;
  const path = rawInput["path"] ?? rawInput["file_path"] ?? rawInput["filePath"] ?? rawInput["absolute_path"];
  return typeof path === "string" ? path : null;
}
