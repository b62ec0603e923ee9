import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Action, GrepAction, GrepObservation } from "@convoke/protocol";
import { ToolInputError } from "../../tool.ts";
import type { Tool, ToolCall, ToolContext } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { checkGlob, selectionArguments } from "../glob/plan-glob.ts";
import { findTwin } from "../file-editor/find-twin.ts";
import { textPart } from "../observation-content.ts";
import { maxFiles, resolveDirectory, resolvePath } from "../ripgrep.ts";
import { maxForeign } from "./find-foreign.ts";
import { maxLines } from "./find-lines.ts";
import { findText, type FoundText } from "./find-text.ts";

/** Finds files by their content. */
export const grepTool: Tool = {
  name: "grep",
  actionKind: "GrepAction",
  isReadOnly: true,
  define: ({ params }) =>
    defineTool(
      "Grep",
      "grep",
      describe(params["lines"] === true),
      annotate("grep", { readOnly: true, destructive: false, idempotent: true, openWorld: false }),
    ),
  open: async (context) => {
    const isLines = showsLines(context.params);
    return {
      execute: async (action: Action, call: ToolCall) => grep(action as GrepAction, call, context, isLines),
      [Symbol.asyncDispose]: async () => {},
    };
  },
};

function showsLines({ lines = false }: ToolContext["params"]): boolean {
  if (typeof lines !== "boolean") throw new ToolInputError("The tool parameter lines must be true or false.");
  return lines;
}

async function grep(
  action: GrepAction,
  call: ToolCall,
  context: ToolContext,
  isLines: boolean,
): Promise<GrepObservation> {
  let place = action.path ?? context.workspaceDir;
  try {
    place = await findTwin(resolvePath(place, context));
    // Not readable for whatever reason: it is not a file, and the message about directories says so.
    const isFile = (await stat(place).catch(() => undefined))?.isFile() === true;
    const file = isFile ? place : null;
    const directory = file === null ? await resolveDirectory(place, context) : dirname(file);
    const selection = file === null ? selectionOf(action) : [];
    const found = await findText({
      pattern: checkedPattern(action),
      selection,
      paths: [file === null ? "." : `./${basename(file)}`],
      wantsLines: isLines || file !== null,
      directory,
      environment: context.environment,
      signal: call.signal,
    });
    if (found.files.length === 0 && selection.length > 0)
      await checkGlob(action.include ?? "", {
        directory,
        environment: context.environment,
        signal: call.signal,
      });
    const describeFound = isLines || file !== null ? describeLines : describeFiles;
    const text = describeFound(action, file === null ? directory : place, found);
    return { ...observe(action, place, text), matches: [...found.files], truncated: found.isTruncated };
  } catch (error) {
    if (!(error instanceof ToolInputError)) throw error;
    return { ...observe(action, place, error.message), is_error: true };
  }
}

function checkedPattern({ pattern, include }: GrepAction): string {
  if (`${pattern}${include ?? ""}`.includes("\0")) {
    throw new ToolInputError("Invalid parameter: patterns cannot contain a NUL character.");
  }
  return pattern;
}

/** "Every file" must not select hidden and ignored ones. */
function selectionOf({ include }: GrepAction): readonly string[] {
  const isSelective = include !== null && include !== undefined && !/^(\*\*\/)*\*{0,2}$/.test(include);
  return isSelective ? selectionArguments(include) : [];
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

function describeFiles(action: GrepAction, directory: string, found: FoundText): string {
  const { files, isTruncated } = found;
  const among = amongIncluded(action);
  const unread = describeUnread(found);
  if (files.length === 0)
    return `No file in ${directory}${among} contains a match for "${action.pattern}".${unread}`;
  const count = files.length === 1 ? "1 file" : `${files.length} files`;
  const more = isTruncated
    ? `\nOnly the newest ${maxFiles} are listed; use a narrower pattern or include to see others.`
    : "";
  return `${count} in ${directory}${among} with a match for "${action.pattern}", newest first:\n${files.join("\n")}${more}${unread}`;
}

function describeLines(action: GrepAction, place: string, found: FoundText): string {
  const { files, lines, isTruncated } = found;
  const among = amongIncluded(action);
  const unread = describeUnread(found);
  if (files.length === 0) return `No line in ${place}${among} matches "${action.pattern}".${unread}`;
  const byFile = files.map((file) => {
    const own = lines.filter((line) => line.file === file).map(({ number, text }) => `${number}: ${text}`);
    return [file, ...(own.length === 0 ? ["(a binary file)"] : own)].join("\n");
  });
  const count = lines.length === 1 ? "1 line" : `${lines.length} lines`;
  const more = isTruncated
    ? `\n\nOnly the first ${lines.length} lines are shown; use a narrower pattern, path or include to see others.`
    : "";
  return `${count} in ${place}${among} with a match for "${action.pattern}", newest files first:\n\n${byFile.join("\n\n")}${more}${unread}`;
}

function describeUnread({ isForeignTruncated }: FoundText): string {
  return isForeignTruncated
    ? `\nOnly the newest ${maxForeign} files that are not UTF-8 were searched in their own encoding; use a narrower path or include for others.`
    : "";
}

function amongIncluded({ include }: GrepAction): string {
  return include === null || include === undefined ? "" : ` among "${include}"`;
}

function describe(isLines: boolean): string {
  const answer = isLines
    ? `Find lines that match a regular expression. Answers with the absolute paths of the files, and below each its matching lines with their numbers; the most recently changed files first, at most ${maxLines} lines.`
    : `Find files whose content matches a regular expression. Answers with the absolute paths of the files, not the lines; the most recently changed first, at most ${maxFiles}. To see the matching lines of one file with their numbers, give that file as path.`;
  return `${answer}

- pattern is a regular expression of ripgrep (the Rust dialect; look-around and back references of PCRE2 work too). Letter case does not matter. It is matched line by line, in the encoding of each file; $ also stands before CR LF.
- path is the directory, or the one file, to search; without it your working directory is searched.
- include limits the search to files whose names fit a pattern such as *.py or *.{ts,tsx}.
- Binary files, hidden files and files that .gitignore and the like exclude are passed over, unless include names them.

To find files by name use glob.`;
}
