import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, inputClass } from "../ui/field.tsx";
import { useMoreWords, useWords } from "../words/words.ts";

type RenameDialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  readonly onSave: (title: string) => void;
};

export default function RenameDialog({ title, onClose, onSave }: RenameDialogProps) {
  const words = useWords();
  const more = useMoreWords();
  const [text, setText] = useState(title);
  return (
    <Dialog title={more.conversation.rename} onClose={onClose} width="w-[26rem]">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() === "") return;
          onSave(text.trim());
          onClose();
        }}
      >
        <Field label={more.conversation.title}>
          {(id) => (
            <input
              id={id}
              className={inputClass}
              value={text}
              maxLength={200}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button type="submit" variant="primary" disabled={text.trim() === ""}>
            {words.common.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
