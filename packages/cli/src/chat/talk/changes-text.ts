import type { ConvokeClient } from "@convoke/client";
import { diffOf, type Change } from "@convoke/client/diff-lines";
import { changedFiles, type ChangedFile } from "@convoke/client/view";
import { printable } from "../../print/printable.ts";
import { hunkText } from "../lines/diff-text.ts";
import type { Theme } from "../screen/theme.ts";

export type ChangesPlace = {
  readonly client: ConvokeClient;
  readonly conversationId: string;
  /** Of the conversation. */
  readonly folder: string;
};

/** Of more files only the names are shown. */
const maxFiles = 100;
const maxTogether = 4;

/**
 * The files that differ from what their branch started from; where there is no repository, or no difference, what the editing tools
 * of the agent changed.
 */
export async function findChanges(place: ChangesPlace): Promise<readonly ChangedFile[]> {
  const { signal } = new AbortController();
  const files = await changedFiles(place, { type: "branch" }, signal);
  return files.length > 0 ? files : await changedFiles(place, { type: "edits" }, signal);
}

/** The files at or below a path, which may be absolute. */
export function filesAt(files: readonly ChangedFile[], given: string): readonly ChangedFile[] {
  const path = given.replace(/^\.\//u, "").replace(/\/$/u, "");
  return files.filter((file) =>
    [file.path, file.fullPath].some((one) => one === path || one.startsWith(`${path}/`)),
  );
}

/** All changes for a pager: a head for each file, and below it its changed lines. */
export async function changesText(files: readonly ChangedFile[], theme: Theme): Promise<string> {
  const shown = files.slice(0, maxFiles);
  const texts: string[] = [];
  for (let from = 0; from < shown.length; from += maxTogether)
    texts.push(
      ...(await Promise.all(shown.slice(from, from + maxTogether).map((file) => fileText(file, theme)))),
    );
  const left = files.slice(maxFiles).map(({ path }) => printable(path));
  const more = left.length === 0 ? [] : [`${left.length} more: /diff PATH shows them`, ...left];
  return [...texts, ...more].join("\n");
}

async function fileText(file: ChangedFile, theme: Theme): Promise<string> {
  const { paint } = theme;
  const changes = await file.read(new AbortController().signal);
  const diffs = changes.map(diffOf);
  const sum = (side: "added" | "removed"): number => diffs.reduce((total, diff) => total + diff[side], 0);
  const kind = { ADDED: "new  ", DELETED: "deleted  ", UPDATED: "" }[file.status];
  const head = `${paint.bold(printable(file.path))}  ${kind}${paint.green(`+${sum("added")}`)} ${paint.red(`-${sum("removed")}`)}`;
  const lines = diffs.some(({ hunks }) => hunks.length > 0)
    ? changes.flatMap((change) => changeLines(change, theme))
    : [paint.dim("  no lines to show: a binary or empty file, or one that is too large")];
  return [head, ...lines, ""].join("\n");
}

function changeLines(change: Change, theme: Theme): string[] {
  return diffOf(change).hunks.flatMap(({ header, lines }) => [
    theme.paint.cyan(printable(header)),
    ...hunkText(lines, theme),
  ]);
}
