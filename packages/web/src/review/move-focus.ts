import type { KeyboardEvent } from "react";

/**
 * Keyboard navigation: lines with j and k or the arrows, files with J and K, `c` to comment on a line, `v` to accept
 * the file. Returns true if it handled the key.
 */
export function moveFocus(event: KeyboardEvent<HTMLElement>): boolean {
  const { target, currentTarget: panel, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || !(target instanceof HTMLElement)) return false;
  if (["TEXTAREA", "INPUT", "SELECT"].includes(target.tagName)) return false;
  const line = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[key];
  if (line !== undefined) return step(panel, "[data-line]", target, line);
  const file = { J: 1, K: -1 }[key];
  if (file !== undefined) return step(panel, "[data-file]", target, file);
  if (key === "c" && target.matches("[data-line]")) {
    target.click();
    return true;
  }
  const accept =
    key === "v" ? target.closest("[data-changed]")?.querySelector<HTMLElement>("[data-accept]") : null;
  accept?.click();
  return accept !== null && accept !== undefined;
}

/** Moves the focus to the next or previous matching element. */
function step(panel: HTMLElement, selector: string, from: HTMLElement, by: number): boolean {
  const parts = [...panel.querySelectorAll<HTMLElement>(selector)];
  const isBehind = (part: HTMLElement): boolean =>
    (from.compareDocumentPosition(part) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  const next =
    by > 0
      ? parts.find((part) => part !== from && isBehind(part))
      : parts.findLast((part) => part !== from && !isBehind(part));
  if (next === undefined) return false;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}
