import { useLayoutEffect, useRef, useState } from "react";
import { AnsiText } from "../text/ansi-text.tsx";
import { withoutColours } from "../text/without-colours.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { useMoreWords } from "../words/words.ts";

const maxLines = 200;
const maxCharacters = 40_000;
/** In pixels. */
const nearEnd = 20;

type LongTextProps = {
  readonly text: string;
  readonly isError?: boolean;
  /** Prose; otherwise output, which keeps its columns. */
  readonly isWrapped?: boolean;
  /** True while it grows: the view follows the end unless the user scrolls away. */
  readonly isLive?: boolean;
};

/** Output with its colours. Of a long one the last lines are shown; the rest on demand. */
export function LongText({ text, isError = false, isWrapped = false, isLive = false }: LongTextProps) {
  const words = useMoreWords().cardBody;
  const [isWhole, setIsWhole] = useState(false);
  const end = endOf(text);
  const isCut = !isWhole && end.length < text.length;
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(isLive);
  useLayoutEffect(() => {
    const element = box.current;
    if (isLive && isAtEnd.current && element !== null) element.scrollTop = element.scrollHeight;
  }, [text, isLive]);
  return (
    <div className="group/text relative">
      {isCut && (
        <div className="border-b border-line px-2 py-1">
          <Button variant="quiet" onClick={() => setIsWhole(true)}>
            {words.earlierOutput(text.slice(0, text.length - end.length).split("\n").length - 1)}
          </Button>
        </div>
      )}
      <div className="absolute top-1 right-1 opacity-0 group-focus-within/text:opacity-100 group-hover/text:opacity-100 pointer-coarse:opacity-100">
        <CopyButton text={withoutColours(text)} />
      </div>
      <pre
        ref={box}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - clientHeight - scrollTop < nearEnd;
        }}
        className={`max-h-[28rem] overflow-auto px-3 py-2 font-mono text-xs leading-[1.5] ${isError ? "text-bad" : ""} ${isWrapped ? "break-words whitespace-pre-wrap" : ""}`}
      >
        <AnsiText text={isCut ? end : text} />
      </pre>
    </div>
  );
}

function endOf(text: string): string {
  let from = Math.max(0, text.length - maxCharacters);
  if (from > 0) from = text.indexOf("\n", from) + 1 || from;
  const lines = text.slice(from).split("\n");
  return lines.slice(-maxLines).join("\n");
}
