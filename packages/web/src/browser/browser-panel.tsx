import { X } from "lucide-react";
import { useEffect, useId, useMemo, useRef } from "react";
import { useStore } from "../lib/store.ts";
import { labelsOf } from "../lib/title-id.ts";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { BrowserLink, type BrowserSight } from "./browser-link.ts";
import { BrowserPicture } from "./browser-picture.tsx";

export type BrowserPanelProps = {
  readonly conversationId: string;
  readonly isWorking: boolean;
  readonly onClose: () => void;
};

/** The browser of the agent as it is now; a person can have it while the agent is not at work. */
export default function BrowserPanel({ conversationId, isWorking, onClose }: BrowserPanelProps) {
  const words = useMoreWords().browser;
  const { close } = useWords().common;
  const { client } = useServices();
  const titleId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const link = useMemo(() => new BrowserLink(client, conversationId), [client, conversationId]);
  const sight = useStore(link);
  useEffect(() => heading.current?.focus(), []);
  useWhileSeen(link);
  const { isYours, isOpen, tabs, picture } = sight;
  const front = tabs.find((tab) => tab.is_front);
  return (
    <section
      aria-labelledby={labelsOf(titleId, conversationId)}
      onKeyDown={(event) => event.key === "Escape" && !isYours && onClose()}
      className="flex w-1/2 min-w-0 shrink-0 flex-col border-l border-line bg-canvas max-[1100px]:absolute max-[1100px]:inset-0 max-[1100px]:z-10 max-[1100px]:w-auto max-[1100px]:border-l-0 in-data-split:absolute in-data-split:inset-0 in-data-split:z-10 in-data-split:w-auto in-data-split:border-l-0"
    >
      <header className="flex h-11 shrink-0 items-center gap-2.5 border-b border-line pr-1.5 pl-3">
        <h2 id={titleId} ref={heading} tabIndex={-1} className="grow font-medium outline-none">
          {words.title}
        </h2>
        {isYours ? (
          <Button look="primary" onClick={() => link.send({ type: "give" })}>
            {words.give}
          </Button>
        ) : (
          <Button
            disabled={isWorking || sight.isLent || !sight.isConnected}
            title={isWorking ? words.isWorking : undefined}
            onClick={() => link.send({ type: "take" })}
          >
            {words.take}
          </Button>
        )}
        <IconButton label={close} onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      {tabs.length > 1 && (
        <nav aria-label={words.tabs} className="flex shrink-0 gap-1 overflow-x-auto px-2 pt-1.5">
          {tabs.map(({ id, title, url, is_front: isFront }) => (
            <button
              key={id}
              type="button"
              aria-current={isFront ? "true" : undefined}
              disabled={!isYours}
              onClick={() => link.send({ type: "tab", id })}
              className="max-w-48 shrink-0 truncate rounded px-2 py-1 text-sm text-soft aria-[current]:bg-hover aria-[current]:text-ink pointer-coarse:min-h-11"
            >
              {visibleText(title === "" ? url : title)}
            </button>
          ))}
        </nav>
      )}
      {front !== undefined && (
        <p className="shrink-0 truncate px-3 py-1.5 font-mono text-xs text-soft" title={front.url}>
          {visibleText(front.url)}
        </p>
      )}
      <p
        role="status"
        className={`shrink-0 text-sm text-soft empty:hidden ${front === undefined ? "p-4" : "px-3 pb-1.5"}`}
      >
        {statusOf(sight, words, isWorking)}
        {isYours && sight.problem === null && <span className="pointer-coarse:hidden"> {words.leave}</span>}
      </p>
      {isOpen && picture !== null && <BrowserPicture picture={picture} isYours={isYours} link={link} />}
    </section>
  );
}

function statusOf(
  { isConnected, isOpen, isLent, isYours, problem }: BrowserSight,
  words: ReturnType<typeof useMoreWords>["browser"],
  isWorking: boolean,
): string {
  if (problem !== null) return problem;
  if (!isConnected) return words.connecting;
  if (isYours) return words.yours;
  if (isLent) return words.theirs;
  if (!isOpen) return words.none;
  return isWorking ? words.isWorking : "";
}

/** Nobody looks at a page in the background; who has the browser keeps it there. */
function useWhileSeen(link: BrowserLink): void {
  useEffect(() => {
    const onChange = (): void => {
      if (!document.hidden) link.start();
      else if (!link.snapshot().isYours) link.stop();
    };
    onChange();
    document.addEventListener("visibilitychange", onChange);
    return () => {
      document.removeEventListener("visibilitychange", onChange);
      link.stop();
    };
  }, [link]);
}
