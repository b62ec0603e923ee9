import type { Box, DocumentView, Styles } from "./snapshot.ts";

/** A visible element. */
export type ShownElement = {
  readonly index: number;
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly box: Box;
  readonly styles: Styles;
  readonly paintOrder: number;
};

/** Maximum number of covering elements that are checked, largest first: pages can have any number. */
const maxCovers = 150;

/** The usable elements of a document, in its order: visible and uncovered controls, links, and elements that listen for clicks. */
export function findUsable(document: DocumentView): ShownElement[] {
  const shown = findShown(document);
  const covers = shown
    .filter(isCover)
    .sort((a, b) => areaOf(b.box) - areaOf(a.box))
    .slice(0, maxCovers);
  const usable = shown.filter(
    (element) => isUsable(element, document) && !isCovered(element, covers, document),
  );
  const controls = usable.filter(isControl).map(({ index }) => index);
  const { around, inside } = relatives(document, controls);
  const isControlIndex = new Set(controls);
  // An element that only listens counts, unless it is inside a control, or around controls that do the work.
  return usable.filter(
    ({ index }) => isControlIndex.has(index) || (inside[index] === 0 && around[index] === 0),
  );
}

function findShown(document: DocumentView): ShownElement[] {
  const found: ShownElement[] = [];
  for (let index = 0; index < document.count; index++) {
    if (document.nodes.nodeType[index] !== 1 || document.isHidden(index)) continue;
    const at = document.layoutOf(index);
    const tag = document.nameOf(index).toLowerCase();
    // File inputs are often hidden behind a button.
    const mayBeHidden = tag === "input";
    if (at === undefined && !mayBeHidden) continue;
    const attributes = document.attributesOf(index);
    const isFileInput = tag === "input" && attributes.get("type") === "file";
    const box = at === undefined ? noBox : document.boxAt(at);
    const styles = document.stylesAt(at);
    const isShown = box.width > 0 && box.height > 0 && styles.visibility === "visible";
    if (!isShown && !isFileInput) continue;
    const paintOrder = (at === undefined ? 0 : document.layout.paintOrders?.[at]) ?? 0;
    found.push({ index, tag, attributes, box, styles, paintOrder });
  }
  return found;
}

function isUsable(element: ShownElement, document: DocumentView): boolean {
  const { tag, attributes, styles, index } = element;
  if (unusable.has(tag) || attributes.has("inert")) return false;
  if (tag === "input" && attributes.get("type") === "hidden") return false;
  if (isControl(element)) return true;
  if (styles["pointer-events"] === "none") return false;
  return document.rare("isClickable", index) !== undefined || showsHand(element, document);
}

/** The pointer cursor begins here and was not inherited. */
function showsHand({ index, styles }: ShownElement, document: DocumentView): boolean {
  if (styles.cursor !== "pointer") return false;
  const parent = document.layoutOf(document.parentOf(index));
  return parent === undefined || document.stylesAt(parent).cursor !== "pointer";
}

/** Marks the ancestors and the descendants of these nodes. */
function relatives(
  document: DocumentView,
  nodes: readonly number[],
): { readonly around: Uint8Array; readonly inside: Uint8Array } {
  const around = new Uint8Array(document.count);
  const inside = new Uint8Array(document.count);
  for (const node of nodes)
    for (let at = document.parentOf(node); at >= 0 && around[at] === 0; at = document.parentOf(at))
      around[at] = 1;
  let last = -1;
  for (const node of nodes) {
    if (node <= last) continue;
    last = document.lastInside(node);
    inside.fill(1, node + 1, last + 1);
  }
  return { around, inside };
}

function isCovered(
  { index, box, paintOrder }: ShownElement,
  covers: readonly ShownElement[],
  document: DocumentView,
): boolean {
  return covers.some(
    (cover) =>
      cover.paintOrder > paintOrder &&
      contains(cover.box, box) &&
      !document.isInside(index, cover.index) &&
      !document.isInside(cover.index, index),
  );
}

/** An opaque element that covers others. */
function isCover({ box, styles }: ShownElement): boolean {
  if (!["fixed", "absolute", "sticky"].includes(styles.position) || styles["pointer-events"] === "none")
    return false;
  const alpha = /^rgba\(.*, ([\d.]+)\)$/.exec(styles["background-color"])?.[1];
  const isOpaque = alpha === undefined ? styles["background-color"] !== "" : Number(alpha) > 0.2;
  return areaOf(box) > 1_000 && isOpaque;
}

function isControl({ tag, attributes }: ShownElement): boolean {
  if (controlTags.has(tag)) return true;
  if (tag === "a" || tag === "area") return attributes.has("href");
  if (controlRoles.has(attributes.get("role") ?? "")) return true;
  const editable = attributes.get("contenteditable");
  if (editable !== undefined && editable !== "false") return true;
  return attributes.has("onclick") || Number(attributes.get("tabindex") ?? "-1") >= 0;
}

function areaOf({ width, height }: Box): number {
  return width * height;
}

function contains(outer: Box, inner: Box): boolean {
  return (
    inner.x >= outer.x - 1 &&
    inner.y >= outer.y - 1 &&
    inner.x + inner.width <= outer.x + outer.width + 1 &&
    inner.y + inner.height <= outer.y + outer.height + 1
  );
}

const noBox: Box = { x: 0, y: 0, width: 0, height: 0 };
const unusable = new Set(["html", "body", "head", "script", "style", "option", "optgroup"]);
const controlTags = new Set(["button", "input", "select", "textarea", "summary"]);
const controlRoles = new Set([
  "button",
  "link",
  "checkbox",
  "radio",
  "tab",
  "menuitem",
  "menuitemcheckbox",
  "menuitemradio",
  "option",
  "switch",
  "slider",
  "spinbutton",
  "combobox",
  "searchbox",
  "textbox",
  "treeitem",
  "gridcell",
]);
