import {
  useEffect,
  useMemo,
  useRef,
  type ClipboardEvent,
  type KeyboardEvent,
  type PointerEvent,
  type SyntheticEvent,
} from "react";
import { useMoreWords } from "../words/words.ts";
import type { BrowserLink, BrowserPicture as Picture } from "./browser-link.ts";
import { placeOf, Pointing, type Frame } from "./pointing.ts";

type BrowserPictureProps = {
  readonly picture: Picture;
  readonly isYours: boolean;
  readonly link: BrowserLink;
};

/** The key that, with Control, releases the keyboard. */
const leaveKey = "]";
const wheelEveryMs = 50;

/** The screenshot of the page; it takes mouse and keyboard input from the user who has control. */
export function BrowserPicture({ picture, isYours, link }: BrowserPictureProps) {
  const words = useMoreWords().browser;
  const image = useRef<HTMLImageElement>(null);
  const keyboard = useRef<HTMLTextAreaElement>(null);
  const pointing = useMemo(() => new Pointing(), []);
  const { width, height } = picture;
  useWheel(image, isYours, { width, height }, link);
  useEffect(() => {
    if (isYours) keyboard.current?.focus({ preventScroll: true });
  }, [isYours]);

  const onPointer = (event: PointerEvent<HTMLImageElement>): void => {
    if (!isYours) return;
    event.preventDefault();
    if (event.type === "pointerdown") {
      event.currentTarget.setPointerCapture(event.pointerId);
      // Opens the on-screen keyboard of a phone.
      keyboard.current?.focus({ preventScroll: true });
    }
    const frame = { box: event.currentTarget.getBoundingClientRect(), width, height };
    const { type, pointerType, button, clientX, clientY, timeStamp } = event.nativeEvent;
    const given = { type, pointerType, button, clientX, clientY, timeStamp };
    for (const input of pointing.inputs(given, frame)) link.send(input);
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    const { key, ctrlKey, nativeEvent } = event;
    if (ctrlKey && key === leaveKey) {
      event.preventDefault();
      link.send({ type: "give" });
      return;
    }
    // Phone keyboards and input methods report the text, not keys. Pasting has its own event.
    if (nativeEvent.isComposing || /^(?:Unidentified|Process|Dead)$/.test(key)) return;
    if ((ctrlKey || event.metaKey) && key.toLowerCase() === "v") return;
    event.preventDefault();
    event.stopPropagation();
    link.send({ type: "key", event: event.type === "keydown" ? "down" : "up", key });
  };
  const write = (text: string): void => {
    if (text !== "") link.send({ type: "text", text: text.slice(0, 20_000) });
  };
  const onWritten = (event: SyntheticEvent<HTMLTextAreaElement>): void => {
    if ((event.nativeEvent as InputEvent).isComposing) return;
    write(event.currentTarget.value);
    event.currentTarget.value = "";
  };
  const onPaste = (event: ClipboardEvent): void => {
    event.preventDefault();
    write(event.clipboardData.getData("text"));
  };
  return (
    <div className="relative min-h-0 grow overflow-auto p-2">
      <img
        ref={image}
        alt={words.picture}
        src={`data:image/jpeg;base64,${picture.data}`}
        width={width}
        height={height}
        draggable={false}
        onPointerDown={onPointer}
        onPointerMove={onPointer}
        onPointerUp={onPointer}
        onPointerCancel={onPointer}
        onContextMenu={(event) => isYours && event.preventDefault()}
        className={`h-auto max-h-full w-auto max-w-full rounded border select-none ${isYours ? "cursor-default touch-none border-accent" : "border-line"}`}
      />
      {isYours && (
        <textarea
          ref={keyboard}
          aria-label={words.keyboard}
          autoCapitalize="off"
          autoComplete="off"
          autoCorrect="off"
          spellCheck={false}
          onKeyDown={onKey}
          onKeyUp={onKey}
          onInput={onWritten}
          onCompositionEnd={onWritten}
          onPaste={onPaste}
          className="pointer-events-none absolute top-2 left-2 size-px resize-none overflow-hidden text-[16px] opacity-0"
        />
      )}
    </div>
  );
}

/** Listens natively, because React's wheel listener is passive and cannot prevent the panel from scrolling. */
function useWheel(
  image: { readonly current: HTMLImageElement | null },
  isYours: boolean,
  { width, height }: Pick<Frame, "width" | "height">,
  link: BrowserLink,
): void {
  useEffect(() => {
    const target = image.current;
    if (target === null || !isYours) return;
    let sum = { dx: 0, dy: 0 };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      sum = { dx: sum.dx + event.deltaX, dy: sum.dy + event.deltaY };
      const place = placeOf(event, { box: target.getBoundingClientRect(), width, height });
      timer ??= setTimeout(() => {
        timer = undefined;
        const within = (turn: number): number => Math.min(Math.max(turn, -10_000), 10_000);
        link.send({ type: "wheel", ...place, dx: within(sum.dx), dy: within(sum.dy) });
        sum = { dx: 0, dy: 0 };
      }, wheelEveryMs);
    };
    target.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      clearTimeout(timer);
      target.removeEventListener("wheel", onWheel);
    };
  }, [image, isYours, width, height, link]);
}
