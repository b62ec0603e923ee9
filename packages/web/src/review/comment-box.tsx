import { useEffect, useRef } from "react";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import type { ReviewComment } from "./review-comment.ts";

type CommentBoxProps = {
  readonly comment: ReviewComment;
  /** True if the commented lines no longer exist. */
  readonly hasChanged: boolean;
  readonly onWrite: (comment: ReviewComment) => void;
  readonly onRemove: (id: string) => void;
};

/** A comment editor inside the diff; saved at each keystroke. */
export function CommentBox({ comment, hasChanged, onWrite, onRemove }: CommentBoxProps) {
  const words = useMoreWords().review;
  const field = useRef<HTMLTextAreaElement>(null);
  const { id, from, to, text } = comment;
  // A new comment takes the focus.
  const isNew = useRef(text === "");
  useEffect(() => {
    if (isNew.current) field.current?.focus();
  }, []);
  const label = words.commentOn(from, to);
  const leave = (element: HTMLElement): void => {
    const lines = element.closest("[data-panel]")?.querySelectorAll<HTMLElement>("[data-line]") ?? [];
    const before = [...lines].findLast(
      (line) => line.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    before?.focus();
  };
  return (
    <div className="sticky left-0 w-[min(36rem,calc(100vw-1.5rem))] px-3 py-2 font-sans">
      <div className="rounded-md border border-edge bg-canvas">
        <p className="flex items-center gap-2 px-2.5 pt-1.5 text-xs text-faint">
          {label}
          {hasChanged && <span className="text-warn">{words.changed}</span>}
        </p>
        <textarea
          ref={field}
          aria-label={label}
          placeholder={words.placeholder}
          rows={Math.min(8, text.split("\n").length + 1)}
          value={text}
          onChange={(event) => onWrite({ ...comment, text: event.target.value })}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.preventDefault();
            event.stopPropagation();
            leave(event.currentTarget);
            if (text === "") onRemove(id);
          }}
          className="block w-full resize-y bg-transparent px-2.5 py-1 text-base outline-none placeholder:text-faint pointer-coarse:text-[16px]"
        />
        <div className="flex justify-end px-1.5 pb-1.5">
          <Button variant="quiet" onClick={() => onRemove(id)}>
            {words.removeComment}
          </Button>
        </div>
      </div>
    </div>
  );
}
