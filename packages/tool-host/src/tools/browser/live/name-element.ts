import type { Page } from "playwright-core";
import { withinMs } from "../../../within.ts";

/** Timeout in milliseconds for busy pages. */
const timeoutMs = 1_000;
const longestName = 60;

/** A readable name of the element at a position, or of the focused one. Never contains what is typed into a field. */
export async function nameElement(
  page: Page,
  place: { readonly x: number; readonly y: number } | null,
): Promise<string> {
  // A navigating or hostile page has no names.
  const found = await withinMs(page.evaluate(nameIn, place), timeoutMs).catch(() => undefined);
  if (typeof found?.name !== "string" || typeof found.kind !== "string") return "the page";
  // oxlint-disable-next-line no-control-regex -- one line of the log
  const plain = (text: string): string => text.replaceAll(/[\s\u0000-\u001f"]+/g, " ").trim();
  const name = plain(found.name).slice(0, longestName).toWellFormed();
  const kind = plain(found.kind).slice(0, 20);
  return name === "" ? `a ${kind}` : `${kind} "${name}"`;
}

/** Runs in the page. */
function nameIn(place: { x: number; y: number } | null): { name: string; kind: string } | null {
  const at = (root: Document | ShadowRoot): Element | null =>
    place === null ? root.activeElement : root.elementFromPoint(place.x, place.y);
  let element = at(document);
  for (let depth = 0; element?.shadowRoot && depth < 20; depth++) {
    const inner: Element | null = at(element.shadowRoot);
    if (inner === null || inner === element) break;
    element = inner;
  }
  if (element === null || element === document.body || element === document.documentElement) return null;
  const used =
    element.closest("a, button, input, select, textarea, label, summary, [role], [contenteditable]") ??
    element;
  const isField = used instanceof HTMLInputElement || used instanceof HTMLTextAreaElement;
  const isButton = isField && /^(?:submit|button|reset)$/.test(used.type);
  if (isField && used.type === "password") return { name: "", kind: "password field" };
  const label = isField || used instanceof HTMLSelectElement ? used.labels?.[0]?.textContent : null;
  const isText = !isField && !(used instanceof HTMLSelectElement) && !(used as HTMLElement).isContentEditable;
  const name =
    used.getAttribute("aria-label") ??
    label ??
    used.getAttribute("placeholder") ??
    used.getAttribute("alt") ??
    used.getAttribute("title") ??
    (isButton ? used.value : isText ? used.textContent : used.getAttribute("name")) ??
    "";
  const tag = used.tagName.toLowerCase();
  const role = used.getAttribute("role");
  const kind =
    isButton || tag === "button"
      ? "button"
      : tag === "a"
        ? "link"
        : isField || (used as HTMLElement).isContentEditable
          ? "field"
          : tag === "select"
            ? "list"
            : (role ?? tag);
  return { name: name.slice(0, 300), kind };
}
