import { ArrowUp, ImagePlus } from "lucide-react";
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import {
  completed,
  type CompletionTarget,
  sendChoice,
  type Suggest,
  type Suggestion,
} from "@convoke/client/view";
import { useServices } from "../services/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { useWords } from "../words/words.ts";
import { readImage } from "./read-images.ts";
import { AttachedImages } from "./attached-images.tsx";
import { optionId, SuggestionList } from "./suggestion-list.tsx";
import { useCompletion } from "./use-completion.ts";

export type ComposedMessage = { readonly text: string; readonly images: readonly string[] };

type ComposerProps = {
  /** Key of the draft: a conversation id, or `new`. */
  readonly place: string;
  readonly status: string;
  readonly onSend: (composed: ComposedMessage, how: "enter" | "ctrl-enter") => void;
  /** Text to insert, such as that of a withdrawn message; applied once per object. */
  readonly given?: { readonly text: string } | null;
  /** Source of suggestions; none if absent. */
  readonly suggest?: Suggest | null;
  /** Shown below the text, at the left. */
  readonly children?: ReactNode;
  readonly isLarge?: boolean;
};

const isTouch = (): boolean => matchMedia("(pointer: coarse)").matches;

/** The message editor. The draft is saved at each keystroke, per conversation, and removed when it is sent. */
export function Composer(props: ComposerProps) {
  const { place, status, onSend, given = null, suggest = null, children, isLarge = false } = props;
  const words = useWords().composer;
  const { drafts } = useServices();
  const field = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const hintId = useId();
  const [text, setText] = useState(() => drafts.read(place));
  const [caret, setCaret] = useState(0);
  const [images, setImages] = useState(() => drafts.readImages(place));
  const choice = sendChoice(status);
  const canSend = text.trim() !== "" || images.length > 0;

  const write = useCallback(
    (value: string): void => {
      setText(value);
      drafts.write(place, value);
    },
    [drafts, place],
  );
  useEffect(() => drafts.writeImages(place, images), [drafts, place, images]);
  const complete = useCallback(
    (target: CompletionTarget, suggestion: Suggestion): void => {
      const next = completed(text, target, suggestion);
      field.current?.focus();
      // Rendered at once, so that the next keystroke follows the inserted text.
      flushSync(() => {
        write(next.text);
        setCaret(next.caret);
      });
      field.current?.setSelectionRange(next.caret, next.caret);
    },
    [text, write],
  );
  const completion = useCompletion({ text, caret, suggest, onChoose: complete });
  useEffect(() => {
    if (given === null) return;
    write(given.text);
    field.current?.focus();
  }, [given, write]);
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, window.innerHeight * 0.4)}px`;
  }, [text]);

  const send = (how: "enter" | "ctrl-enter"): void => {
    if (!canSend) return;
    onSend({ text: text.trim(), images }, how);
    write("");
    setImages([]);
    // At once: `onSend` may replace this composer by another one.
    drafts.writeImages(place, []);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (completion.onKey(event)) return;
    if (event.key !== "Enter" || event.nativeEvent.isComposing || event.shiftKey) return;
    const isCtrl = event.ctrlKey || event.metaKey;
    // Phone keyboards have no other key for a new line.
    if (isTouch() && !isCtrl) return;
    event.preventDefault();
    send(isCtrl && choice.ctrlEnter !== null ? "ctrl-enter" : "enter");
  };
  const addImages = async (files: Iterable<File>): Promise<void> => {
    // The browser clears the list after the event.
    const chosen = [...files];
    for (const item of chosen) {
      const image = await readImage(item);
      if (image !== null) setImages((before) => [...before, image]);
    }
  };
  const onPaste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    void addImages(event.clipboardData.files);
  };

  return (
    <div
      className="relative rounded-lg border border-edge bg-canvas focus-within:border-accent focus-within:shadow-[0_0_0_1px_var(--color-accent)]"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void addImages(event.dataTransfer.files);
      }}
    >
      <SuggestionList {...completion} />
      {images.length > 0 && (
        <Suspense>
          <AttachedImages images={images} onChange={setImages} />
        </Suspense>
      )}
      <textarea
        ref={field}
        value={text}
        rows={isLarge ? 3 : 1}
        aria-label={words.label}
        aria-describedby={hintId}
        placeholder={words.placeholder}
        enterKeyHint="enter"
        {...(suggest === null ? {} : { "aria-autocomplete": "list", "aria-haspopup": "listbox" })}
        {...(completion.active < 0
          ? {}
          : {
              "aria-controls": completion.listId,
              "aria-activedescendant": optionId(completion.listId, completion.active),
            })}
        onChange={(event) => {
          setCaret(event.target.selectionStart);
          write(event.target.value);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onBlur={completion.close}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        className="block w-full resize-none bg-transparent px-3 pt-2.5 pb-1 text-base outline-none placeholder:text-faint pointer-coarse:text-[16px]"
      />
      <div className="flex items-center gap-1 px-1.5 pb-1.5">
        <IconButton label={words.addImage} onClick={() => file.current?.click()}>
          <ImagePlus size={15} />
        </IconButton>
        <input
          ref={file}
          type="file"
          accept="image/png,image/jpeg,image/gif,image/webp"
          multiple
          hidden
          onChange={(event) => {
            void addImages(event.target.files ?? []);
            event.target.value = "";
          }}
        />
        <div className="flex min-w-0 grow flex-wrap items-center gap-1">{children}</div>
        <span id={hintId} className="px-1 text-xs text-faint max-[720px]:hidden">
          {choice.ctrlEnter === null ? words.hint : words.hintWhileWorking}
        </span>
        <Button variant="primary" disabled={!canSend} onClick={() => send("enter")}>
          <ArrowUp size={14} />
          {words[choice.enter]}
        </Button>
      </div>
    </div>
  );
}
