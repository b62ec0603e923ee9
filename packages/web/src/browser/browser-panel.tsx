import { useEffect, useMemo } from "react";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { SidePanel } from "../ui/side-panel.tsx";
import { useMoreWords } from "../words/words.ts";
import { BrowserLink, type BrowserView } from "./browser-link.ts";
import { BrowserPicture } from "./browser-picture.tsx";

export type BrowserPanelProps = {
  readonly conversationId: string;
  readonly isWorking: boolean;
  readonly onClose: () => void;
};

/** The agent's browser, live. A user can take control while the agent does not run. */
export default function BrowserPanel({ conversationId, isWorking, onClose }: BrowserPanelProps) {
  const words = useMoreWords().browser;
  const { client } = useServices();
  const link = useMemo(() => new BrowserLink(client, conversationId), [client, conversationId]);
  const view = useStore(link);
  useWhileSeen(link);
  const { isYours, isOpen, tabs, picture } = view;
  const front = tabs.find((tab) => tab.is_front);
  return (
    <SidePanel
      conversationId={conversationId}
      title={words.title}
      onKeyDown={(event) => event.key === "Escape" && !isYours && onClose()}
      bar={
        <div className="flex grow justify-end pr-1.5">
          {isYours ? (
            <Button variant="primary" onClick={() => link.send({ type: "give" })}>
              {words.give}
            </Button>
          ) : (
            <Button
              disabled={isWorking || view.isLent || !view.isConnected}
              title={isWorking ? words.isWorking : undefined}
              onClick={() => link.send({ type: "take" })}
            >
              {words.take}
            </Button>
          )}
        </div>
      }
      onClose={onClose}
    >
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
        {statusOf(view, words, isWorking)}
        {isYours && view.problem === null && <span className="pointer-coarse:hidden"> {words.leave}</span>}
      </p>
      {isOpen && picture !== null && <BrowserPicture picture={picture} isYours={isYours} link={link} />}
    </SidePanel>
  );
}

function statusOf(
  { isConnected, isOpen, isLent, isYours, problem }: BrowserView,
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

/** Paused while the page is in the background, unless this user controls the browser. */
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
