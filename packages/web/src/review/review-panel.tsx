import { X } from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { useStore } from "../lib/store.ts";
import { labelsOf } from "../lib/title-id.ts";
import { useServices } from "../services/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { baseOf, type ChangedFile, type Scope } from "./changed-files.ts";
import { ChangedFileView } from "./changed-file-view.tsx";
import { RevertDialog } from "./revert-dialog.tsx";
import { ReviewDrafts } from "./review-drafts.ts";
import { reviewMessage } from "./review-comment.ts";
import { useChanges } from "./use-changes.ts";
import { moveFocus } from "./move-focus.ts";
import { useTurns } from "./use-turns.ts";

/** So many files are open at first; the others open when somebody wants them. */
const openAtFirst = 20;

const fixed = {
  branch: { type: "branch" },
  uncommitted: { type: "uncommitted" },
  edits: { type: "edits" },
} as const;

export type ReviewPanelProps = {
  readonly conversationId: string;
  /** Where the conversation works; absolute. */
  readonly folder: string;
  readonly isWorking: boolean;
  /** Another one whenever a tool has done something. */
  readonly version: string;
  readonly onClose: () => void;
  readonly onSent: () => void;
};

/** What the agent changed, file by file: look at it, say something about its lines, accept it or take it back. */
export default function ReviewPanel(props: ReviewPanelProps) {
  const { conversationId, folder, isWorking, version, onClose, onSent } = props;
  const words = useMoreWords().review;
  const { close } = useWords().common;
  const { client, keep, outbox } = useServices();
  const titleId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const drafts = useMemo(() => new ReviewDrafts(keep, conversationId), [keep, conversationId]);
  const draft = useStore(drafts);
  const turns = useTurns(conversationId, version);
  const [chosen, setChosen] = useState<Scope | null>(null);
  const [looks, setLooks] = useState(0);
  const place = useMemo(() => ({ client, conversationId, folder }), [client, conversationId, folder]);
  const git = useChanges(place, chosen ?? fixed.branch, `${version} ${looks}`);
  // Where git knows of no change, or there is no git, the log still knows what was edited.
  const isFallback = chosen === null && git.files?.length === 0;
  useEffect(() => {
    if (isFallback) setChosen(fixed.edits);
  }, [isFallback]);
  const scope = chosen ?? fixed.branch;
  const [reverted, setReverted] = useState<ChangedFile | null>(null);
  useEffect(() => heading.current?.focus(), []);

  const base = baseOf(scope);
  const comments = draft.comments.filter(({ text }) => text.trim() !== "");
  const canSend = comments.length > 0 || draft.summary.trim() !== "";
  const send = (): void => {
    const text = reviewMessage(draft.summary, comments);
    outbox.add({ id: crypto.randomUUID(), conversationId, text, images: [], run: true });
    drafts.clear();
    onSent();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const isInDialog = event.target instanceof Element && event.target.closest("dialog") !== null;
    if (isInDialog || event.defaultPrevented) return;
    if (event.key === "Escape") return onClose();
    if (moveFocus(event)) event.preventDefault();
  };

  const { files, problem } = git;
  return (
    <section
      aria-labelledby={labelsOf(titleId, conversationId)}
      data-review=""
      onKeyDown={onKeyDown}
      className="flex w-1/2 min-w-0 shrink-0 flex-col border-l border-line bg-canvas max-[1100px]:absolute max-[1100px]:inset-0 max-[1100px]:z-10 max-[1100px]:w-auto max-[1100px]:border-l-0 in-data-split:absolute in-data-split:inset-0 in-data-split:z-10 in-data-split:w-auto in-data-split:border-l-0"
    >
      <header className="flex h-11 shrink-0 items-center gap-2.5 border-b border-line pr-1.5 pl-3">
        <h2 id={titleId} ref={heading} tabIndex={-1} className="shrink-0 font-medium outline-none">
          {words.title}
        </h2>
        <select
          aria-label={words.scope}
          value={keyOf(scope)}
          onChange={(event) => {
            const turn = turns.find(({ firstId }) => firstId === event.target.value);
            setChosen(turn === undefined ? fixed[event.target.value as keyof typeof fixed] : turn);
          }}
          className="h-7 min-w-0 grow rounded-md border border-edge bg-canvas px-1.5 text-sm pointer-coarse:h-11 pointer-coarse:text-[16px]"
        >
          {Object.keys(fixed).map((key) => (
            <option key={key} value={key}>
              {words.scopes[key as keyof typeof fixed]}
            </option>
          ))}
          <optgroup label={words.turns}>
            {turns.map(({ firstId, text }) => (
              <option key={firstId} value={firstId}>
                {text}
              </option>
            ))}
          </optgroup>
        </select>
        {files !== null && <span className="shrink-0 text-xs text-faint">{words.files(files.length)}</span>}
        <IconButton label={close} onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      <div className="min-h-0 grow overflow-y-auto" aria-busy={files === null && problem === null}>
        {problem !== null && (
          <p role="alert" className="m-3 rounded-md bg-bad-wash px-3 py-1.5 text-sm text-bad">
            {problem}
          </p>
        )}
        {files?.length === 0 && <p className="px-3 py-3 text-faint">{words.none}</p>}
        {files?.map((file, index) => (
          <ChangedFileView
            key={file.fullPath}
            file={file}
            drafts={drafts}
            draft={draft}
            isOpenAtFirst={index < openAtFirst}
            onRevert={base === null || isWorking ? null : setReverted}
          />
        ))}
      </div>
      <footer className="shrink-0 border-t border-line px-3 py-2">
        <div className="flex items-end gap-2">
          <textarea
            aria-label={words.summary}
            placeholder={words.summary}
            rows={draft.summary === "" ? 1 : Math.min(6, draft.summary.split("\n").length + 1)}
            value={draft.summary}
            onChange={(event) => drafts.summarize(event.target.value)}
            className="min-w-0 grow resize-none rounded-md border border-edge bg-canvas px-2.5 py-1 text-base placeholder:text-faint pointer-coarse:min-h-11 pointer-coarse:text-[16px]"
          />
          <Button look="primary" disabled={!canSend} onClick={send}>
            {words.send(comments.length)}
          </Button>
        </div>
      </footer>
      {reverted !== null && base !== null && (
        <RevertDialog
          conversationId={conversationId}
          file={reverted}
          base={base}
          onClose={() => setReverted(null)}
          onDone={() => setLooks((count) => count + 1)}
        />
      )}
    </section>
  );
}

function keyOf(scope: Scope): string {
  return scope.type === "turn" ? scope.firstId : scope.type;
}
