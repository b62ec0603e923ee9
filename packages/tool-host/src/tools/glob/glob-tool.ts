import type { Action, GlobAction, GlobObservation } from "@convoke/protocol";
import { ToolInputError } from "../../tool.ts";
import type { Tool, ToolCall, ToolContext } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { textPart } from "../observation-content.ts";
import { findFiles, maxFiles, type FoundFiles, type RipgrepSearch } from "../ripgrep.ts";
import { checkGlob, globArguments, planGlob } from "./plan-glob.ts";
import { escapeGlob, hasGroups } from "./widen-glob.ts";

/** Finds files by name patterns. */
export const globTool: Tool = {
  name: "glob",
  actionKind: "GlobAction",
  isReadOnly: true,
  define: () =>
    defineTool(
      "Glob",
      "glob",
      describe(),
      annotate("glob", { readOnly: true, destructive: false, idempotent: true, openWorld: false }),
    ),
  open: async (context) => ({
    execute: async (action: Action, call: ToolCall) => glob(action as GlobAction, call, context),
    [Symbol.asyncDispose]: async () => {},
  }),
};

async function glob(action: GlobAction, call: ToolCall, context: ToolContext): Promise<GlobObservation> {
  const { pattern } = action;
  let search_path = action.path ?? context.workspaceDir;
  try {
    const plan = await planGlob(pattern, action.path ?? undefined, context);
    search_path = plan.directory;
    const search = { directory: plan.directory, environment: context.environment, signal: call.signal };
    const { files, isTruncated } = await find(plan.pattern, search);
    if (files.length === 0) await checkGlob(plan.pattern, search);
    const text = describeFiles(pattern, search_path, files, isTruncated);
    return { ...observe(pattern, search_path, text), files: [...files], truncated: isTruncated };
  } catch (error) {
    if (!(error instanceof ToolInputError)) throw error;
    return { ...observe(pattern, search_path, error.message), is_error: true };
  }
}

/** A leading `!` is part of a name if such a file exists. */
async function find(pattern: string, search: Omit<RipgrepSearch, "arguments">): Promise<FoundFiles> {
  if (pattern.startsWith("!")) {
    const named = ["--files", "--hidden", "-g", escapeGlob(pattern), "--", "."];
    const found = await findFiles({ ...search, arguments: named });
    if (found.files.length > 0) return found;
  }
  return findFiles({ ...search, arguments: globArguments(pattern) });
}

function observe(pattern: string, search_path: string, text: string): GlobObservation {
  const kind = "GlobObservation";
  return {
    kind,
    content: [textPart(text)],
    is_error: false,
    files: [],
    pattern,
    search_path,
    truncated: false,
  };
}

function describeFiles(
  pattern: string,
  directory: string,
  files: readonly string[],
  isTruncated: boolean,
): string {
  if (files.length === 0) {
    const groups = hasGroups(pattern)
      ? " Brackets stand for one of several characters and braces for alternatives; both were also looked for as parts of names."
      : "";
    return `No file matches "${pattern}" in ${directory}.${groups}`;
  }
  const count = files.length === 1 ? "1 file matches" : `${files.length} files match`;
  const more = isTruncated
    ? `\nOnly the newest ${maxFiles} are listed; use a narrower pattern to see others.`
    : "";
  return `${count} "${pattern}" in ${directory}, newest first:\n${files.join("\n")}${more}`;
}

function describe(): string {
  return `Find files by a pattern of their names. Answers with absolute paths, the most recently changed first, at most ${maxFiles}.

- * stands for any characters but /, ? for one, ** for any number of directories, [abc] for one of several characters, {a,b} for alternatives. Files with brackets or braces in their names are found as well: app/[id]/page.tsx. A leading ! lists what does not match.
- A pattern without / matches names at any depth; one with / begins at the searched directory: src/**/*.{ts,tsx}.
- path is the directory to search; without it your working directory is searched. An absolute pattern such as /etc/**/*.conf works too.
- Files that .gitignore and the like exclude, and hidden files, appear only when the pattern names them, as .env or *.log does.

To look for text inside files use grep.`;
}
