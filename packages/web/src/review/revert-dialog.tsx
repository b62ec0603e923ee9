import { useState } from "react";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import type { ChangedFile } from "@convoke/client/view";

type RevertDialogProps = {
  readonly conversationId: string;
  readonly file: ChangedFile;
  /** The commit to revert to; undefined: the start of the branch. */
  readonly base: string | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
};

/** Asks for confirmation before a file is reverted: its current content is lost. */
export function RevertDialog({ conversationId, file, base, onClose, onDone }: RevertDialogProps) {
  const words = useMoreWords().review;
  const { cancel, failed } = useWords().common;
  const { client } = useServices();
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const revert = async (): Promise<void> => {
    setIsBusy(true);
    setProblem(null);
    try {
      await client.call("POST /api/conversations/{runtime_conversation_id}/git/restore", {
        params: { runtime_conversation_id: conversationId },
        body: { path: file.fullPath, ...(base === undefined ? {} : { ref: base }) },
      });
      onDone();
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : failed);
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={words.revertTitle} onClose={onClose} width="w-[28rem]">
      <p className="mb-1 font-mono text-sm break-all">{visibleText(file.path)}</p>
      <p className="mb-3 text-sm text-soft">{file.status === "ADDED" ? words.revertNew : words.revertText}</p>
      {problem !== null && (
        <p role="alert" className="mb-3 text-sm text-bad">
          {problem}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{cancel}</Button>
        <Button variant="danger" disabled={isBusy} onClick={() => void revert()}>
          {words.revert}
        </Button>
      </div>
    </Dialog>
  );
}
