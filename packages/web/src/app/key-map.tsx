import { Suspense, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { lazyPart } from "../lib/lazy-part.ts";
import { conversationAddress } from "../lib/conversation-address.ts";
import { useStore } from "../lib/store.ts";
import { attentionOf } from "../overview/summary.ts";
import { useServices } from "../services/services.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useMoreWords } from "../words/words.ts";

const Palette = lazyPart(() => import("./palette.tsx"));

/** Maximum milliseconds between the two keys of a chord. */
const chordMs = 1_000;

/** Global shortcuts, active while no text field has the focus. They are single keys, so they can be turned off. */
export default function KeyMap() {
  const { storage, overview, earlyKeys } = useServices();
  const { summaries } = useStore(overview);
  const [location, navigate] = useLocation();
  const [isShown, setIsShown] = useState(false);
  const [isPaletteOpen, setIsPaletteOpen] = useState(false);
  const chord = useRef(-chordMs);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      if (isPaletteKey(event)) {
        event.preventDefault();
        if (document.querySelector("dialog[open]") === null) setIsPaletteOpen(true);
      }
      if (event.ctrlKey || event.metaKey) return;
      if (event.key === "F6" && goToPane(event.shiftKey ? -1 : 1)) event.preventDefault();
      if (event.altKey) {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step === undefined) return;
        const active = summaries.filter((summary) => attentionOf(summary) !== "rests");
        const at = active.findIndex(({ id }) => location === `/c/${id}`);
        const next = active.at((at + step) % Math.max(1, active.length));
        if (next === undefined) return;
        event.preventDefault();
        navigate(`/c/${next.id}`);
        return;
      }
      if (
        isWriting(event.target) ||
        storage.read("keys") === false ||
        document.querySelector("dialog[open]") !== null
      )
        return;
      const isChord = event.timeStamp - chord.current < chordMs;
      chord.current = event.key === "g" ? event.timeStamp : -chordMs;
      const act = isChord
        ? {
            h: () => navigate("/"),
            i: () => navigate("/inbox"),
            s: () => navigate("/search"),
            a: () => navigate("/automations"),
            m: () => navigate("/settings"),
          }[event.key]
        : actions(event.key);
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    const actions = (key: string): (() => void) | undefined =>
      ({
        n: () => navigate("/"),
        i: () => (paneOf(document.activeElement) ?? document).querySelector("textarea")?.focus(),
        "/": () => navigate("/search"),
        "?": () => setIsShown(true),
        ...(openId === null
          ? {}
          : {
              t: () =>
                navigate(
                  conversationAddress(openId, window.location.search, { at: "", event: null, q: null }),
                ),
            }),
      })[key];
    const openId = /^\/c\/([^/]+)$/u.exec(location)?.[1] ?? null;
    for (const early of earlyKeys.take()) onKeyDown(early);
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [summaries, storage, earlyKeys, location, navigate]);
  return (
    <Suspense>
      {isShown && <KeyDialog onClose={() => setIsShown(false)} />}
      {isPaletteOpen && <Palette onClose={() => setIsPaletteOpen(false)} />}
    </Suspense>
  );
}

function KeyDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useMoreWords().keys;
  return (
    <Dialog title={words.title} onClose={onClose}>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5 text-sm">
        {words.list.map(([key, meaning]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-raised px-1.5 py-0.5 font-mono text-xs">
                {key}
              </kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-3 text-xs text-faint">{words.off}</p>
    </Dialog>
  );
}

function isPaletteKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return key === "k" && ctrlKey !== metaKey && !altKey && !shiftKey;
}

function paneOf(element: Element | null): Element | null {
  return element?.closest("[data-pane]") ?? null;
}

/** Moves the focus to the composer of the next pane. Returns whether there are several panes. */
function goToPane(step: number): boolean {
  const panes = [...document.querySelectorAll("[data-pane]")];
  if (panes.length < 2 || document.querySelector("dialog[open]") !== null) return false;
  const here = paneOf(document.activeElement);
  const at = here === null ? (step < 0 ? 0 : -1) : panes.indexOf(here);
  panes
    .at((at + step) % panes.length)
    ?.querySelector("textarea")
    ?.focus();
  return true;
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}
