import { useEffect, useMemo, useState, type KeyboardEvent } from "react";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { SidePanel } from "../ui/side-panel.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";
import { baseOf, type ChangedFile, type ChangeScope } from "@convoke/client/view";
import { ChangedFileView } from "./changed-file-view.tsx";
import { RevertDialog } from "./revert-dialog.tsx";
import { ReviewDrafts } from "./review-drafts.ts";
import { reviewMessage } from "./review-comment.ts";
import { useChanges } from "./use-changes.ts";
import { moveFocus } from "./move-focus.ts";
import { useTurns } from "./use-turns.ts";

/** Files expanded at first. */
const openAtFirst = 20;

const fixed = {
  branch: { type: "branch" },
  uncommitted: { type: "uncommitted" },
  edits: { type: "edits" },
} as const;

export type ReviewPanelProps = {
  readonly conversationId: string;
  /** Working directory of the conversation; absolute. */
  readonly folder: string;
  readonly isWorking: boolean;
  /** Changes whenever a tool has finished. */
  readonly version: string;
  readonly onClose: () => void;
  readonly onSent: () => void;
};

/** Review of the agent's changes, file by file: comment on lines, accept or revert. */
export default function ReviewPanel(props: ReviewPanelProps) {
  const { conversationId, folder, isWorking, version, onClose, onSent } = props;
  const words = useMoreWords().review;
  const { client, storage, outbox } = useServices();
  const drafts = useMemo(() => new ReviewDrafts(storage, conversationId), [storage, conversationId]);
  const draft = useStore(drafts);
  const turns = useTurns(conversationId, version);
  const [chosen, setChosen] = useState<ChangeScope | null>(null);
  const [reverts, setReverts] = useState(0);
  const place = useMemo(() => ({ client, conversationId, folder }), [client, conversationId, folder]);
  const git = useChanges(place, chosen ?? fixed.branch, `${version} ${reverts}`);
  // Fallback if git reports no change or is missing: the edits in the log.
  const isFallback = chosen === null && git.files?.length === 0;
  useEffect(() => {
    if (isFallback) setChosen(fixed.edits);
  }, [isFallback]);
  const scope = chosen ?? fixed.branch;
  const [reverted, setReverted] = useState<ChangedFile | null>(null);

  const base = baseOf(scope);
  const comments = draft.comments.filter(({ text }) => text.trim() !== "");
  const canSend = comments.length > 0 || draft.summary.trim() !== "";
  const send = (): void => {
    const text = reviewMessage(draft.summary, comments);
    outbox.add({ id: crypto.randomUUID(), conversationId, text, images: [] });
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
    <SidePanel
      conversationId={conversationId}
      title={words.title}
      onKeyDown={onKeyDown}
      bar={
        <div className="flex min-w-0 grow items-center gap-2.5 pr-1.5">
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
        </div>
      }
      onClose={onClose}
    >
      <div className="min-h-0 grow overflow-y-auto" aria-busy={files === null && problem === null}>
        <Problem className="m-3" text={problem} />
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
          <Button variant="primary" disabled={!canSend} onClick={send}>
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
          onDone={() => setReverts((count) => count + 1)}
        />
      )}
    </SidePanel>
  );
}

function keyOf(scope: ChangeScope): string {
  return scope.type === "turn" ? scope.firstId : scope.type;
}
