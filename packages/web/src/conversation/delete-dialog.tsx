import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useMoreWords, useWords } from "../words/words.ts";

type DeleteDialogProps = { readonly onClose: () => void; readonly onDelete: () => void };

/** Asks for confirmation before a conversation is deleted. */
export default function DeleteDialog({ onClose, onDelete }: DeleteDialogProps) {
  const words = useWords();
  const more = useMoreWords();
  return (
    <Dialog title={more.conversation.deleteTitle} onClose={onClose} width="w-[24rem]">
      <p className="mb-4 text-sm text-soft">{more.conversation.deleteText}</p>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{words.common.cancel}</Button>
        <Button
          variant="danger"
          onClick={() => {
            onClose();
            onDelete();
          }}
        >
          {more.conversation.delete}
        </Button>
      </div>
    </Dialog>
  );
}
