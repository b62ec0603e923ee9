import { Check, ChevronDown, ChevronRight, Undo2 } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { type Change, diffOf } from "@convoke/client/diff-lines";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { digestOf, type ChangedFile } from "@convoke/client/view";
import { CommentedDiff } from "./commented-diff.tsx";
import type { ReviewDraft, ReviewDrafts } from "./review-drafts.ts";

type ChangedFileViewProps = {
  readonly file: ChangedFile;
  readonly drafts: ReviewDrafts;
  readonly draft: ReviewDraft;
  readonly isOpenAtFirst: boolean;
  /** Null if the base is unknown. */
  readonly onRevert: ((file: ChangedFile) => void) | null;
};

/** One changed file: its status, its diff and its comments. */
export function ChangedFileView({ file, drafts, draft, isOpenAtFirst, onRevert }: ChangedFileViewProps) {
  const words = useMoreWords().review;
  const { path, status } = file;
  const [choice, setChoice] = useState<boolean | null>(null);
  const comments = draft.comments.filter((comment) => comment.path === path);
  const acceptedDigest = draft.accepted[path];
  const { changes, problem } = useFile(file, choice ?? (isOpenAtFirst || comments.length > 0));
  const digest = useMemo(() => (changes === null ? null : digestOf(changes)), [changes]);
  const isAccepted = digest !== null && digest === acceptedDigest;
  const isOpen = choice ?? (!isAccepted && (isOpenAtFirst || comments.length > 0));
  const diffs = useMemo(() => changes?.map(diffOf) ?? [], [changes]);
  const count = (side: "added" | "removed"): number => diffs.reduce((sum, diff) => sum + diff[side], 0);
  const accept = (): void => {
    if (digest === null) return;
    drafts.accept(path, isAccepted ? null : digest);
    setChoice(null);
  };
  const last = comments.at(-1);
  const cutAt = path.lastIndexOf("/") + 1;
  return (
    <section aria-label={path} data-changed="" className="border-b border-line">
      <header className="sticky top-0 z-[1] flex flex-wrap items-center gap-x-2 gap-y-1 border-b border-line bg-raised py-1 pr-2 pl-1">
        <h3 className="min-w-0 grow max-[720px]:basis-full">
          <button
            type="button"
            data-file=""
            aria-expanded={isOpen}
            onClick={() => setChoice(!isOpen)}
            className="flex w-full min-w-0 items-center gap-1.5 rounded px-1 py-0.5 text-left hover:bg-hover pointer-coarse:min-h-11"
          >
            {isOpen ? (
              <ChevronDown size={14} className="shrink-0 text-faint" />
            ) : (
              <ChevronRight size={14} className="shrink-0 text-faint" />
            )}
            <span className={`shrink-0 text-xs ${statusStyles[status]}`}>{words.statuses[status]}</span>
            <span className="min-w-0 font-mono text-xs break-all">
              <span className="text-faint">{visibleText(path.slice(0, cutAt))}</span>
              {visibleText(path.slice(cutAt))}
            </span>
            {changes !== null && (
              <span className="shrink-0 font-mono text-xs">
                <span className="text-good">{`+${count("added")}`}</span>{" "}
                <span className="text-bad">{`−${count("removed")}`}</span>
              </span>
            )}
          </button>
        </h3>
        {onRevert !== null && (
          <Button variant="quiet" onClick={() => onRevert(file)}>
            <Undo2 size={13} />
            {words.revert}
          </Button>
        )}
        <Button
          variant="quiet"
          data-accept=""
          aria-pressed={isAccepted}
          disabled={digest === null}
          onClick={accept}
        >
          <Check size={13} className={isAccepted ? "text-good" : ""} />
          {isAccepted ? words.accepted : words.accept}
        </Button>
      </header>
      {isOpen && problem !== null && <p className="px-3 py-2 text-sm text-soft">{problem}</p>}
      {isOpen && problem === null && changes === null && <div className="h-8" aria-busy="true" />}
      {isOpen &&
        diffs.map((diff, index) => (
          <CommentedDiff
            // Changes of one file have no ids, and only the last one grows.
            // eslint-disable-next-line react/no-array-index-key
            key={index}
            path={path}
            diff={diff}
            comments={index === diffs.length - 1 ? comments : []}
            onComment={(lines) => drafts.write({ id: crypto.randomUUID(), path, text: "", ...lines })}
            onExtend={(lines) => last !== undefined && drafts.write({ ...last, ...lines })}
            onWrite={(comment) => drafts.write(comment)}
            onRemove={(id) => drafts.remove(id)}
          />
        ))}
    </section>
  );
}

const statusStyles = { ADDED: "text-good", UPDATED: "text-soft", DELETED: "text-bad" } as const;

/** Loads the changes of a file. The old ones stay until the new ones arrive; the same object if nothing changed. */
function useFile(
  file: ChangedFile,
  isWanted: boolean,
): { readonly changes: readonly Change[] | null; readonly problem: string | null } {
  const [known, setKnown] = useState<{ changes: readonly Change[] | null; problem: string | null }>({
    changes: null,
    problem: null,
  });
  const [isRead, setIsRead] = useState(isWanted);
  useEffect(() => {
    if (isWanted) setIsRead(true);
  }, [isWanted]);
  useEffect(() => {
    if (!isRead) return;
    const stop = new AbortController();
    file
      .read(stop.signal)
      .then((changes) =>
        setKnown((before) =>
          before.changes !== null && digestOf(before.changes) === digestOf(changes)
            ? { ...before, problem: null }
            : { changes, problem: null },
        ),
      )
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        setKnown({ changes: null, problem: error instanceof Error ? error.message : String(error) });
      });
    return () => stop.abort();
  }, [file, isRead]);
  return known;
}
