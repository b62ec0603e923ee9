import { parsePatch, structuredPatch, type StructuredPatchHunk } from "diff";

/** One line of a diff; numbers start at 1, null on the side without the line. */
export type DiffLine = {
  readonly type: "same" | "added" | "removed";
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
};

export type DiffHunk = { readonly header: string; readonly lines: readonly DiffLine[] };

export type FileDiff = {
  readonly hunks: readonly DiffHunk[];
  readonly added: number;
  readonly removed: number;
};

export type Change = { readonly before: string; readonly after: string } | { readonly patch: string };

/** Maximum size of texts to compare: larger diffs would block the page. */
const maxCharacters = 2_000_000;

const known = new WeakMap<Change, FileDiff>();

/** The changed lines with three lines of context. Cached as long as the change object lives. */
export function diffOf(change: Change): FileDiff {
  let diff = known.get(change);
  if (diff === undefined) known.set(change, (diff = toFileDiff(hunksOf(change))));
  return diff;
}

function hunksOf(change: Change): readonly StructuredPatchHunk[] {
  if ("patch" in change) return parsePatch(change.patch)[0]?.hunks ?? [];
  if (change.before.length + change.after.length > maxCharacters) return [];
  return (
    structuredPatch("", "", change.before, change.after, "", "", { context: 3, timeout: 200 })?.hunks ?? []
  );
}

function toFileDiff(hunks: readonly StructuredPatchHunk[]): FileDiff {
  let added = 0;
  let removed = 0;
  const shown = hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    let before = oldStart;
    let after = newStart;
    const numbered = lines.flatMap((line): DiffLine[] => {
      const text = line.slice(1);
      if (line.startsWith("+")) {
        added += 1;
        return [{ type: "added", before: null, after: after++, text }];
      }
      if (line.startsWith("-")) {
        removed += 1;
        return [{ type: "removed", before: before++, after: null, text }];
      }
      // A marker such as "no newline at end of file" is not a line.
      return line.startsWith("\\") ? [] : [{ type: "same", before: before++, after: after++, text }];
    });
    return { header: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, lines: numbered };
  });
  return { hunks: shown, added, removed };
}
