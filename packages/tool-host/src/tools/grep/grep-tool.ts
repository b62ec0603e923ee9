import type { Action, GrepAction, GrepObservation } from "@convoke/protocol";
import { ToolInputError } from "../../tool.ts";
import type { Tool, ToolCall, ToolContext } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { selectionArguments } from "../glob/plan-glob.ts";
import { textPart } from "../observation-content.ts";
import { findFiles, maxFiles, resolveDirectory } from "../ripgrep.ts";

/** Finds files by their content. */
export const grepTool: Tool = {
  name: "grep",
  actionKind: "GrepAction",
  isReadOnly: true,
  define: () =>
    defineTool(
      "Grep",
      "grep",
      describe(),
      annotate("grep", { readOnly: true, destructive: false, idempotent: true, openWorld: false }),
    ),
  open: async (context) => ({
    execute: async (action: Action, call: ToolCall) => grep(action as GrepAction, call, context),
    [Symbol.asyncDispose]: async () => {},
  }),
};

async function grep(action: GrepAction, call: ToolCall, context: ToolContext): Promise<GrepObservation> {
  let directory = action.path ?? context.workspaceDir;
  try {
    directory = await resolveDirectory(directory, context);
    const { files, isTruncated } = await findFiles({
      arguments: grepArguments(action),
      directory,
      environment: context.environment,
      signal: call.signal,
    });
    const text = describeFiles(action, directory, files, isTruncated);
    return { ...observe(action, directory, text), matches: [...files], truncated: isTruncated };
  } catch (error) {
    if (!(error instanceof ToolInputError)) throw error;
    return { ...observe(action, directory, error.message), is_error: true };
  }
}

/** The pattern is always a value, never an option; look-around makes ripgrep choose the engine that has it. */
function grepArguments({ pattern, include }: GrepAction): string[] {
  if (`${pattern}${include ?? ""}`.includes("\0")) {
    throw new ToolInputError("Invalid parameter: patterns cannot contain a NUL character.");
  }
  // "Every file" must not select hidden and ignored ones.
  const isSelective = include !== null && include !== undefined && !/^(\*\*\/)*\*{0,2}$/.test(include);
  const selection = isSelective ? selectionArguments(include) : [];
  return ["--files-with-matches", "--ignore-case", "--engine=auto", ...selection, "-e", pattern, "--", "."];
}

function observe(action: GrepAction, search_path: string, text: string): GrepObservation {
  return {
    kind: "GrepObservation",
    content: [textPart(text)],
    is_error: false,
    matches: [],
    pattern: action.pattern,
    search_path,
    include_pattern: action.include ?? null,
    truncated: false,
  };
}

function describeFiles(
  action: GrepAction,
  directory: string,
  files: readonly string[],
  isTruncated: boolean,
): string {
  const among = action.include === null || action.include === undefined ? "" : ` among "${action.include}"`;
  if (files.length === 0) return `No file in ${directory}${among} contains a match for "${action.pattern}".`;
  const count = files.length === 1 ? "1 file" : `${files.length} files`;
  const more = isTruncated
    ? `\nOnly the newest ${maxFiles} are listed; use a narrower pattern or include to see others.`
    : "";
  return `${count} in ${directory}${among} with a match for "${action.pattern}", newest first:\n${files.join("\n")}${more}`;
}

function describe(): string {
  return `Find files whose content matches a regular expression. Answers with the absolute paths of the files, not the lines; the most recently changed first, at most ${maxFiles}. Look at a file with the file viewer afterwards.

- pattern is a regular expression of ripgrep (the Rust dialect; look-around and back references of PCRE2 work too). Letter case does not matter. It is matched line by line.
- path is the directory to search; without it your working directory is searched.
- include limits the search to files whose names fit a pattern such as *.py or *.{ts,tsx}.
- Binary files, hidden files and files that .gitignore and the like exclude are passed over, unless include names them.

To find files by name use glob.`;
}
