import { X } from "lucide-react";
import { useEffect, useId, useRef, type ReactNode } from "react";
import { useWords } from "../words/words.ts";
import { IconButton } from "./button.tsx";

type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Tailwind class of the width. */
  readonly width?: string;
};

/** A native modal dialog: it traps and restores the focus, and closes with Escape. */
export function Dialog({ title, onClose, children, width = "w-[30rem]" }: DialogProps) {
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={onClose}
      onClose={onClose}
      className={`m-auto max-h-[85dvh] max-w-[calc(100vw-1.5rem)] overflow-y-auto rounded-lg border border-line bg-canvas text-ink shadow-xl ${width}`}
    >
      <div className="flex items-center justify-between gap-3 py-2.5 pr-2.5 pl-4">
        <h2 id={titleId} className="text-lg font-semibold">
          {title}
        </h2>
        <IconButton label={words.common.close} onClick={onClose}>
          <X size={16} />
        </IconButton>
      </div>
      <div className="px-4 pb-4">{children}</div>
    </dialog>
  );
}
