import { posix } from "node:path";
import type { HookConfig } from "@convoke/protocol";
import { compilePattern, PatternRefused, type ForeignPattern } from "../../lib/foreign-pattern.ts";
import { readTextFile, type WorkspaceFiles } from "../skills/workspace-files.ts";
import { isObject } from "../../lib/json-object.ts";

/** The moments at which hooks run, by their names in configurations, with those in events. */
export const hookMoments = {
  pre_tool_use: "PreToolUse",
  post_tool_use: "PostToolUse",
  user_prompt_submit: "UserPromptSubmit",
  session_start: "SessionStart",
  session_end: "SessionEnd",
  stop: "Stop",
} as const;
export type HookMoment = keyof typeof hookMoments;

/** One hook as it is carried out; `timeout` is in seconds. */
export type Hook = {
  /** One of type `agent` is asked like a `prompt`, with its own words before; it has no tools here. */
  readonly type: "command" | "prompt" | "agent";
  readonly name?: string | null;
  readonly command: string;
  readonly prompt?: string | null;
  readonly system_prompt?: string | null;
  readonly timeout: number;
  /** Started and not waited for; it can decide nothing. */
  readonly async: boolean;
  /** What counts when a hook fails, hangs or says nothing that can be understood. */
  readonly on_failure: "allow" | "deny";
};

export type HookGroup = { readonly matcher: string; readonly hooks: readonly Hook[] };
export type HookSettings = { readonly [Moment in HookMoment]: readonly HookGroup[] };

/** A configuration in one form, or the first thing that is wrong with it and where. */
export type ParsedHooks =
  | { readonly ok: true; readonly settings: HookSettings }
  | { readonly ok: false; readonly loc: readonly (string | number)[]; readonly reason: string };

const maxTimeoutSeconds = 600;
/** Characters of all matchers together that are expressions. */
const maxPatternChars = 10_000;

/** Where a configuration comes from, which says how it is checked. */
export type HookOrigin =
  /** Unknown fields are refused: one that narrows or denies would be a guard that is not there. */
  | "request"
  /** A file may be written for several programs, so unknown fields are ignored. */
  | "file"
  /** It was taken before, so matchers are not judged again. */
  | "stored";

/**
 * Reads a configuration: either form of names, with or without `hooks` around it.
 */
export function parseHooks(given: unknown, origin: HookOrigin): ParsedHooks {
  const check = origin === "stored" ? () => {} : openMatcherCheck();
  const known = origin === "request" ? refuseUnknown : () => {};
  try {
    const outer = readObject(given, []);
    const keys = Object.keys(outer);
    const isWrapped = keys.length === 1 && keys[0] === "hooks" && isObject(outer["hooks"]);
    const source = isWrapped ? (outer["hooks"] as Record<string, unknown>) : outer;
    const settings: Record<string, readonly HookGroup[]> = {};
    for (const moment of Object.keys(hookMoments)) settings[moment] = [];
    const seen = new Set<string>();
    for (const [key, groups] of Object.entries(source)) {
      const moment = momentOf(key);
      if (moment === null) throw new Wrong([key], "This is no moment of a hook.");
      if (seen.has(moment)) throw new Wrong([key], "This moment is there twice.");
      seen.add(moment);
      settings[moment] = readList(groups ?? [], [key]).map((group, index) =>
        readGroup(group, [key, index], check, known),
      );
    }
    return { ok: true, settings: settings as HookSettings };
  } catch (error) {
    if (error instanceof Wrong) return { ok: false, loc: error.loc, reason: error.message };
    throw error;
  }
}

/** True when there is any hook at all. */
export function hasHooks(settings: HookSettings): boolean {
  return Object.values(settings).some((groups) => groups.some(({ hooks }) => hooks.length > 0));
}

/** In the form that a configuration is stored in. */
export function toHookConfig(settings: HookSettings): HookConfig {
  const groups = (moment: HookMoment) =>
    settings[moment].map(({ matcher, hooks }) => ({ matcher, hooks: hooks.map((hook) => ({ ...hook })) }));
  const moments = Object.keys(hookMoments) as HookMoment[];
  return Object.fromEntries(moments.map((moment) => [moment, groups(moment)]));
}

/** Both, those of the first before those of the second at each moment. */
export function mergeHooks(first: HookSettings, second: HookSettings): HookSettings {
  const moments = Object.keys(hookMoments) as HookMoment[];
  const merged = moments.map((moment) => [moment, [...first[moment], ...second[moment]]]);
  return Object.fromEntries(merged) as HookSettings;
}

/** The hooks that a directory configures; null when there is no file, it is not valid, or it has none. */
export async function readHookFile(files: WorkspaceFiles, directory: string): Promise<HookSettings | null> {
  const file = await readTextFile(files, posix.join(directory, ".openhands", "hooks.json"));
  if (file === null || file.isCut) return null;
  try {
    const parsed = parseHooks(JSON.parse(file.text), "file");
    return parsed.ok && hasHooks(parsed.settings) ? parsed.settings : null;
  } catch {
    // No JSON: as good as no file.
    return null;
  }
}

/**
 * Which tools a matcher is for. One that cannot be understood, as it may be in an old configuration, is for every tool: a guard
 * is asked once too often rather than not at all.
 */
export function openMatcher(matcher: string): (toolName: string) => boolean {
  if (isForAll(matcher)) return () => true;
  try {
    const pattern = patternOf(matcher);
    return pattern === null ? (toolName) => toolName === matcher : (toolName) => pattern.test(toolName);
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error;
    return () => true;
  }
}

function isForAll(matcher: string): boolean {
  return matcher === "" || matcher === "*";
}

function patternOf(matcher: string): ForeignPattern | null {
  const isSlashed = matcher.length > 1 && matcher.startsWith("/") && matcher.endsWith("/");
  if (!isSlashed && !/[|.*+?[\]()^$\\]/.test(matcher)) return null;
  return compilePattern(isSlashed ? matcher.slice(1, -1) : matcher, { anchor: "whole" });
}

class Wrong extends Error {
  override readonly name = "Wrong";
  readonly loc: readonly (string | number)[];

  constructor(loc: readonly (string | number)[], message: string) {
    super(message);
    this.loc = loc;
  }
}

function momentOf(key: string): HookMoment | null {
  for (const [moment, event] of Object.entries(hookMoments)) {
    if (key === moment || key === event) return moment as HookMoment;
  }
  return null;
}

/** Compiling costs time too, so there is a limit for all matchers together. */
function openMatcherCheck(): (matcher: string, loc: readonly (string | number)[]) => void {
  let chars = 0;
  return (matcher, loc) => {
    try {
      if (isForAll(matcher) || patternOf(matcher) === null) return;
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
      throw new Wrong(loc, error.message);
    }
    chars += matcher.length;
    if (chars > maxPatternChars)
      throw new Wrong(loc, `All expressions together have at most ${maxPatternChars} characters.`);
  };
}

function readGroup(
  given: unknown,
  loc: readonly (string | number)[],
  check: (matcher: string, loc: readonly (string | number)[]) => void,
  known: typeof refuseUnknown,
): HookGroup {
  const group = readObject(given, loc);
  known(group, groupFields, loc);
  const { matcher = "*", hooks = [] } = group;
  if (typeof matcher !== "string") throw new Wrong([...loc, "matcher"], "Send a text.");
  check(matcher, [...loc, "matcher"]);
  return {
    matcher,
    hooks: readList(hooks, [...loc, "hooks"]).map((hook, at) => readHook(hook, [...loc, "hooks", at], known)),
  };
}

const groupFields: ReadonlySet<string> = new Set(["matcher", "hooks"]);
const hookFields: ReadonlySet<string> = new Set([
  "type",
  "name",
  "command",
  "prompt",
  "system_prompt",
  "tools",
  "timeout",
  "on_failure",
  // Only agents with tools have rounds; those are refused below.
  "max_iterations",
  "async",
  // Python clients write it so, because the other is a word of their language.
  "async_",
]);

function refuseUnknown(
  given: Readonly<Record<string, unknown>>,
  fields: ReadonlySet<string>,
  loc: readonly (string | number)[],
): void {
  const field = Object.keys(given).find((name) => !fields.has(name));
  if (field !== undefined)
    throw new Wrong([...loc, field], `Remove this field: hooks know ${[...fields].join(", ")}.`);
}

function readHook(given: unknown, loc: readonly (string | number)[], known: typeof refuseUnknown): Hook {
  const hook = readObject(given, loc);
  known(hook, hookFields, loc);
  const {
    type = "command",
    command = "",
    prompt = null,
    timeout = 60,
    on_failure: onFailure = "allow",
  } = hook;
  if (type !== "command" && type !== "prompt" && type !== "agent")
    throw new Wrong([...loc, "type"], "Hooks are of type command, prompt or agent.");
  if (type === "command" && (typeof command !== "string" || command.trim() === "")) {
    throw new Wrong([...loc, "command"], "Send the command to run.");
  }
  if (type === "prompt" && isBlank(prompt)) {
    throw new Wrong([...loc, "prompt"], "Send the question for the model.");
  }
  const { system_prompt: systemPrompt = null, tools = [] } = hook;
  if (type === "agent" && isBlank(prompt) && isBlank(systemPrompt))
    throw new Wrong([...loc, "prompt"], "Send the question for the model, here or as system_prompt.");
  // A guard that cannot read its path would judge blindly.
  if (type === "agent" && Array.isArray(tools) && tools.length > 0)
    throw new Wrong(
      [...loc, "tools"],
      "An agent as a hook has no tools here: leave them out, or send a command.",
    );
  const isTime = typeof timeout === "number" && timeout > 0 && timeout <= maxTimeoutSeconds;
  if (!isTime) throw new Wrong([...loc, "timeout"], `Send seconds, at most ${maxTimeoutSeconds}.`);
  if (onFailure !== "allow" && onFailure !== "deny")
    throw new Wrong([...loc, "on_failure"], "Use allow or deny.");
  const isAsync = (hook["async"] ?? hook["async_"]) === true;
  if (isAsync && (type !== "command" || onFailure === "deny")) {
    throw new Wrong([...loc, "async"], "A hook that nobody waits for cannot decide anything.");
  }
  return {
    type,
    name: typeof hook["name"] === "string" ? hook["name"] : null,
    command: typeof command === "string" ? command : "",
    prompt: typeof prompt === "string" ? prompt : null,
    ...(type === "agent" ? { system_prompt: typeof systemPrompt === "string" ? systemPrompt : null } : {}),
    timeout,
    async: isAsync,
    on_failure: onFailure,
  };
}

function isBlank(value: unknown): boolean {
  return typeof value !== "string" || value.trim() === "";
}

function readObject(value: unknown, loc: readonly (string | number)[]): Record<string, unknown> {
  if (!isObject(value)) throw new Wrong(loc, "Send an object.");
  return value;
}

function readList(value: unknown, loc: readonly (string | number)[]): unknown[] {
  if (!Array.isArray(value)) throw new Wrong(loc, "Send a list.");
  return value;
}
