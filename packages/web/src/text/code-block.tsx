import { Suspense, useRef } from "react";
import { lazyPart } from "../lib/lazy-part.ts";

const CopyButton = lazyPart(async () => ({ default: (await import("../ui/copy-button.tsx")).CopyButton }));
const TextColours = lazyPart(() => import("../colours/text-colours.tsx"));

/** A code block with its language and a button to copy it. */
export function CodeBlock({ text, language }: { readonly text: string; readonly language: string }) {
  const place = useRef<HTMLElement>(null);
  return (
    <div className="group/code my-2 overflow-hidden rounded-md border border-line bg-raised">
      <div className="flex h-7 items-center justify-between border-b border-line pr-1 pl-3 text-xs text-faint">
        <span>{language}</span>
        <Suspense>
          <CopyButton text={text} />
        </Suspense>
      </div>
      <pre tabIndex={0} className="overflow-x-auto px-3 py-2 font-mono text-sm leading-[1.5]">
        <code ref={place}>{text}</code>
      </pre>
      <Suspense>{language !== "" && <TextColours place={place} text={text} language={language} />}</Suspense>
    </div>
  );
}
