import type { CDPSession } from "playwright-core";
import { ElementDescriber, type ElementDescription } from "./describe-element.ts";
import { DocumentView, type Box, type Snapshot } from "./snapshot.ts";
import { findUsable } from "./usable-elements.ts";

/** One usable element of a page, as the snapshot of its document describes it. */
export type FoundElement = ElementDescription & {
  readonly session: CDPSession;
  /** Distance from the visible part of the page in pixels; 0 inside it. */
  readonly distance: number;
};

export type ReadDocument = {
  readonly elements: readonly FoundElement[];
  /** The text in the visible part of the page. */
  readonly visibleText: string;
};

type Size = { readonly width: number; readonly height: number };

const maxDepth = 10;
/** In pixels: a frame without a size still has a border. */
const maxHiddenFrame = 8;

/** The usable elements of a document and of its in-process frames, including open and closed shadow roots. */
export function readElements(snapshot: Snapshot, session: CDPSession, viewport: Size): ReadDocument {
  const elements: FoundElement[] = [];
  const texts: string[] = [];
  const read = (index: number, left: number, top: number, depth: number): void => {
    const document = snapshot.documents[index];
    if (document === undefined || depth > maxDepth) return;
    const view = new DocumentView(document, snapshot.strings);
    const describer = new ElementDescriber(view);
    const dx = left - (document.scrollOffsetX ?? 0);
    const dy = top - (document.scrollOffsetY ?? 0);
    const distanceOf = (box: Box): number => distanceTo({ ...box, x: box.x + dx, y: box.y + dy }, viewport);
    for (const found of findUsable(view))
      elements.push({ ...describer.describe(found), session, distance: distanceOf(found.box) });
    for (const { box, text } of textsOf(view)) if (distanceOf(box) === 0) texts.push(text);
    for (const { box, content } of framesOf(view)) read(content, box.x + dx, box.y + dy, depth + 1);
  };
  read(0, 0, 0, 0);
  return { elements, visibleText: texts.join("\n") };
}

function distanceTo(box: Box, viewport: Size): number {
  const below = Math.max(0, box.y - viewport.height, -(box.y + box.height));
  const beside = Math.max(0, box.x - viewport.width, -(box.x + box.width));
  return Math.max(below, beside);
}

/** The texts of the document with their positions. */
function textsOf(view: DocumentView): { readonly box: Box; readonly text: string }[] {
  return view.layout.nodeIndex.flatMap((node, at) => {
    if (view.nodes.nodeType[node] !== 3 || view.isHidden(node)) return [];
    const text = view.string(view.layout.text[at]).trim();
    const box = view.boxAt(at);
    if (text === "" || box.width === 0 || view.stylesAt(at).visibility !== "visible") return [];
    return [{ box, text }];
  });
}

function framesOf(view: DocumentView): { readonly box: Box; readonly content: number }[] {
  const { contentDocumentIndex } = view.nodes;
  return (contentDocumentIndex?.index ?? []).flatMap((node, at) => {
    const layout = view.layoutOf(node);
    const content = contentDocumentIndex?.value?.[at];
    if (layout === undefined || content === undefined) return [];
    const box = view.boxAt(layout);
    return box.width > maxHiddenFrame && box.height > maxHiddenFrame ? [{ box, content }] : [];
  });
}
