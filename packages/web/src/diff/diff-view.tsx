import { useMemo, useState } from "react";
import type { Change, DiffHunk, DiffLine } from "@convoke/client/diff-lines";
import { ColouredLine } from "../colours/coloured-line.tsx";
import type { TokenRanges } from "../colours/token-types.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { useLineColours } from "./use-line-colours.ts";
import { useDiff } from "./use-diff.ts";

const firstLines = 300;
const noHunks: readonly DiffHunk[] = [];

const lineStyles = {
  same: "",
  added: "bg-good-wash",
  removed: "bg-bad-wash",
} as const;

const marks = { same: " ", added: "+", removed: "−" } as const;

type DiffViewProps = {
  readonly change: Change;
  /** Path of the file; its extension gives the language. */
  readonly path: string;
  /** False if the line numbers are unknown. */
  readonly hasNumbers?: boolean;
};

/** A unified diff, in one column. */
export function DiffView({ change, path, hasNumbers = true }: DiffViewProps) {
  const words = useMoreWords().diff;
  const diff = useDiff(change);
  const [isWhole, setIsWhole] = useState(false);
  const hunks = diff?.hunks ?? noHunks;
  const shownHunks = useMemo(() => (isWhole ? hunks : firstOf(hunks, firstLines)), [hunks, isWhole]);
  const colours = useLineColours(shownHunks, path);
  if (diff === null) return <div className="h-8" />;
  const count = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  if (count === 0) return <p className="px-3 py-2 text-sm text-faint">{words.none}</p>;
  return (
    <div
      className="overflow-x-auto font-mono text-sm leading-[1.45]"
      tabIndex={0}
      role="group"
      aria-label={words.label}
    >
      <div className="min-w-max">
        {shownHunks.map(({ header, lines }, index) => (
          <div key={header}>
            {index > 0 && (
              <div className="border-y border-line bg-raised px-3 text-xs text-faint">{header}</div>
            )}
            {lines.map((line) => (
              <Line
                key={`${line.before ?? ""}:${line.after ?? ""}`}
                line={line}
                number={hasNumbers ? (line.after ?? line.before) : null}
                ranges={colours.get(line)}
              />
            ))}
          </div>
        ))}
      </div>
      {!isWhole && count > firstLines && (
        <div className="sticky left-0 p-2">
          <Button onClick={() => setIsWhole(true)}>{words.all(count)}</Button>
        </div>
      )}
    </div>
  );
}

function firstOf(hunks: readonly DiffHunk[], maxLines: number): readonly DiffHunk[] {
  const shown: DiffHunk[] = [];
  let left = maxLines;
  for (const hunk of hunks) {
    if (left <= 0) break;
    shown.push({ ...hunk, lines: hunk.lines.slice(0, left) });
    left -= hunk.lines.length;
  }
  return shown;
}

type LineProps = {
  readonly line: DiffLine;
  readonly number: number | null;
  readonly ranges: TokenRanges | undefined;
};

function Line({ line, number, ranges }: LineProps) {
  const words = useMoreWords().diff;
  const spoken = { same: "", added: words.added, removed: words.removed }[line.type];
  return (
    <div className={`flex ${lineStyles[line.type]}`}>
      {number !== null && (
        <span className="w-11 shrink-0 pr-2 text-right text-faint select-none">{number}</span>
      )}
      <span
        className={`w-4 shrink-0 select-none ${line.type === "added" ? "text-good" : line.type === "removed" ? "text-bad" : ""}`}
        aria-hidden="true"
      >
        {marks[line.type]}
      </span>
      {spoken !== "" && <span className="sr-only">{spoken}</span>}
      <ColouredLine text={line.text} ranges={ranges} />
    </div>
  );
}
