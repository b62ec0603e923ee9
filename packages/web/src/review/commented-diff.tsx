import { useMemo, useState } from "react";
import type { DiffLine, FileDiff } from "@convoke/client/diff-lines";
import { ColouredLine } from "../colours/coloured-line.tsx";
import type { TokenRanges } from "../colours/token-types.ts";
import { useLineColours } from "../diff/use-line-colours.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { CommentBox } from "./comment-box.tsx";
import { linesBetween, linesOf, placeOf, type Lines, type ReviewComment } from "./review-comment.ts";

const firstLines = 400;

const lineStyles = { same: "", added: "bg-good-wash", removed: "bg-bad-wash" } as const;
const marks = { same: " ", added: "+", removed: "−" } as const;
const markStyles = { same: "", added: "text-good", removed: "text-bad" } as const;

type CommentedDiffProps = {
  /** Of the file. */
  readonly path: string;
  readonly diff: FileDiff;
  readonly comments: readonly ReviewComment[];
  readonly onComment: (lines: Lines) => void;
  /** Extends the last comment to this line. */
  readonly onExtend: (lines: Lines) => void;
  readonly onWrite: (comment: ReviewComment) => void;
  readonly onRemove: (id: string) => void;
};

/** A diff with a comment button per line and the comments below their lines. */
export function CommentedDiff(props: CommentedDiffProps) {
  const { path, diff, comments, onComment, onExtend, onWrite, onRemove } = props;
  const words = useMoreWords().review;
  const { all, none } = useMoreWords().diff;
  const [isWhole, setIsWhole] = useState(false);
  const [anchor, setAnchor] = useState<number | null>(null);
  const lines = useMemo(() => linesOf(diff), [diff]);
  const places = useMemo(() => placesOf(comments, lines), [comments, lines]);
  const heads = useMemo(() => headsOf(diff), [diff]);
  const colours = useLineColours(diff.hunks, path);
  if (lines.length === 0 && comments.length === 0)
    return <p className="px-3 py-2 text-sm text-faint">{none}</p>;
  const choose = (index: number, isExtending: boolean): void => {
    if (isExtending && anchor !== null) return onExtend(linesBetween(lines, anchor, index));
    setAnchor(index);
    onComment(linesBetween(lines, index, index));
  };
  const boxes = (index: number | null) =>
    (places.get(index) ?? []).map((comment) => (
      <CommentBox
        key={comment.id}
        comment={comment}
        hasChanged={index === null}
        onWrite={onWrite}
        onRemove={onRemove}
      />
    ));
  return (
    <div className="overflow-x-auto font-mono text-sm leading-[1.45]">
      <div className="w-max min-w-full">
        {lines.slice(0, isWhole ? lines.length : firstLines).map((line, index) => (
          <div key={`${line.before ?? ""}:${line.after ?? ""}`}>
            {heads.has(index) && (
              <div className="border-y border-line bg-raised px-3 text-xs text-faint">{heads.get(index)}</div>
            )}
            <Line
              line={line}
              ranges={colours.get(line)}
              label={words.line}
              onChoose={(isExtending) => choose(index, isExtending)}
            />
            {boxes(index)}
          </div>
        ))}
        {boxes(null)}
      </div>
      {!isWhole && lines.length > firstLines && (
        <div className="sticky left-0 p-2">
          <Button onClick={() => setIsWhole(true)}>{all(lines.length)}</Button>
        </div>
      )}
    </div>
  );
}

type LineProps = {
  readonly line: DiffLine;
  readonly ranges: TokenRanges | undefined;
  readonly label: (number: number, type: DiffLine["type"], text: string) => string;
  readonly onChoose: (isExtending: boolean) => void;
};

function Line({ line, ranges, label, onChoose }: LineProps) {
  const number = line.after ?? line.before ?? 0;
  return (
    <div className={`group/line relative flex ${lineStyles[line.type]} focus-within:bg-accent-wash`}>
      <button
        type="button"
        data-line=""
        tabIndex={-1}
        aria-label={label(number, line.type, line.text)}
        onClick={(event) => onChoose(event.shiftKey)}
        // On touch screens the whole line is the button.
        className="w-11 shrink-0 pr-2 text-right text-faint select-none group-hover/line:bg-hover group-hover/line:text-ink pointer-coarse:after:absolute pointer-coarse:after:inset-0"
      >
        {number}
      </button>
      <span className={`w-4 shrink-0 select-none ${markStyles[line.type]}`} aria-hidden="true">
        {marks[line.type]}
      </span>
      <ColouredLine text={line.text} ranges={ranges} />
    </div>
  );
}

/** Comments by the line that they follow; null for those whose lines no longer exist. */
function placesOf(
  comments: readonly ReviewComment[],
  lines: readonly DiffLine[],
): ReadonlyMap<number | null, readonly ReviewComment[]> {
  return Map.groupBy(comments, (comment) => placeOf(comment, lines));
}

/** Headers of all hunks but the first, by the line that they precede. */
function headsOf({ hunks }: FileDiff): ReadonlyMap<number, string> {
  const heads = new Map<number, string>();
  let index = 0;
  for (const { header, lines } of hunks) {
    if (index > 0) heads.set(index, header);
    index += lines.length;
  }
  return heads;
}
