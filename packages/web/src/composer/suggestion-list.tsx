import { useEffect, useRef } from "react";
import { visibleText } from "../text/visible-text.ts";
import { useMoreWords } from "../words/words.ts";
import type { Completion } from "./use-completion.ts";

export function optionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

/**
 * The suggestions, above the text field. The focus stays in the field, which names the active option to screen
 * readers.
 */
export function SuggestionList({ listId, suggestions, active, choose }: Completion) {
  const words = useMoreWords().completion;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <>
      <span role="status" className="sr-only">
        {suggestions.length === 0 ? "" : words.found(suggestions.length)}
      </span>
      {suggestions.length > 0 && (
        <div
          ref={list}
          id={listId}
          role="listbox"
          aria-label={words.label}
          className="absolute inset-x-0 bottom-full z-10 mb-1 max-h-[40dvh] overflow-y-auto rounded-md border border-line bg-canvas p-1 shadow-lg"
        >
          {suggestions.map((suggestion, index) => (
            // The text field handles its keys and keeps the focus.
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
            <div
              key={suggestion.name}
              id={optionId(listId, index)}
              role="option"
              aria-selected={index === active}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(suggestion)}
              className="flex cursor-pointer items-center gap-3 rounded px-2 py-1 text-sm hover:bg-hover aria-selected:bg-hover pointer-coarse:min-h-11"
            >
              <span className="max-w-full shrink-0 truncate font-mono text-xs">
                {visibleText(suggestion.name)}
              </span>
              <span className="min-w-0 truncate text-faint">{visibleText(suggestion.detail)}</span>
            </div>
          ))}
        </div>
      )}
    </>
  );
}
