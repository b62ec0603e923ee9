import type { CDPSession, ElementHandle, Frame, Page } from "playwright-core";
import { randomUUID } from "node:crypto";
import { ToolInputError } from "../../tool.ts";
import { readElements, type FoundElement } from "./read-elements.ts";
import { wantedStyles, type Snapshot } from "./snapshot.ts";

export type IndexedElement = FoundElement & { readonly index: number };

export type PageElements = { readonly elements: readonly IndexedElement[]; readonly visibleText: string };

type Place = { readonly session: CDPSession; readonly backendNodeId: number; readonly frame: Frame };

/** Maximum number of nodes; larger pages would block the browser and the reader for long. */
const maxNodes = 300_000;

/** Numbers the elements of one page; an element has the same number as long as it lives. */
export class ElementIndex {
  readonly #page: Page;
  readonly #sessions = new Map<Frame, Promise<CDPSession>>();
  readonly #numbers = new Map<CDPSession, Map<number, number>>();
  readonly #places = new Map<number, Place>();
  #next = 1;

  constructor(page: Page) {
    this.#page = page;
    page.on("framedetached", (frame) => this.#sessions.delete(frame));
  }

  /** All elements that can be used now; those of out-of-process frames come last. */
  async read(): Promise<PageElements> {
    const viewport = this.#page.viewportSize() ?? { width: 1280, height: 720 };
    const elements: IndexedElement[] = [];
    const texts: string[] = [];
    for (const { frame, session } of await this.#openSessions()) {
      const isMain = frame === this.#page.mainFrame();
      const snapshot = await capture(session, isMain);
      if (snapshot === null) continue;
      const read = readElements(snapshot, session, viewport);
      texts.push(read.visibleText);
      elements.push(...read.elements.map((found) => ({ ...found, index: this.#number(found, frame) })));
    }
    return { elements, visibleText: texts.join("\n") };
  }

  /** The element with this number; fails with advice when it is gone. */
  async find(index: number): Promise<ElementHandle<Element>> {
    const place = this.#places.get(index);
    const handle = place === undefined ? null : await resolve(this.#page, place);
    if (handle !== null) return handle;
    const since = place === undefined ? "" : " any more";
    throw new ToolInputError(
      `There is no element ${index} on the page${since}. Read the state with browser_get_state and use an index of it.`,
    );
  }

  #number(found: FoundElement, frame: Frame): number {
    let numbers = this.#numbers.get(found.session);
    if (numbers === undefined) this.#numbers.set(found.session, (numbers = new Map<number, number>()));
    let index = numbers.get(found.backendNodeId);
    if (index === undefined) {
      index = this.#next++;
      numbers.set(found.backendNodeId, index);
      this.#places.set(index, { session: found.session, backendNodeId: found.backendNodeId, frame });
    }
    return index;
  }

  /** One session for the page, and one for each out-of-process frame. */
  async #openSessions(): Promise<{ readonly frame: Frame; readonly session: CDPSession }[]> {
    const main = this.#page.mainFrame();
    const others = this.#page.frames().filter((frame) => frame !== main);
    const found = await Promise.all(
      [main, ...others].map(async (frame) => {
        let session = this.#sessions.get(frame);
        if (session === undefined) {
          const target = frame === main ? this.#page : frame;
          session = this.#page.context().newCDPSession(target);
          this.#sessions.set(frame, session);
        }
        try {
          return { frame, session: await session };
        } catch (error) {
          // A frame in the page's process has no session of its own; it may get one when it navigates.
          this.#sessions.delete(frame);
          if (frame === main) throw error;
          return null;
        }
      }),
    );
    return found.filter((one) => one !== null);
  }
}

async function capture(session: CDPSession, isMain: boolean): Promise<Snapshot | null> {
  try {
    const { nodes } = (await session.send("Memory.getDOMCounters")) as { nodes: number };
    if (nodes > maxNodes)
      throw new ToolInputError(
        `The page has ${nodes} nodes, too many to list what can be used (${maxNodes} at most). Read it with browser_get_content, or go elsewhere.`,
      );
    return (await session.send("DOMSnapshot.captureSnapshot", {
      computedStyles: [...wantedStyles],
      includePaintOrder: true,
    })) as Snapshot;
  } catch (error) {
    if (isMain || error instanceof ToolInputError) throw error;
    // The frame went away between listing and reading.
    return null;
  }
}

/** Passes the node from the protocol to Playwright through a temporary property of its window. */
async function resolve(
  page: Page,
  { session, backendNodeId, frame }: Place,
): Promise<ElementHandle<Element> | null> {
  const key = `__convoke_${randomUUID()}`;
  try {
    const { object } = (await session.send("DOM.resolveNode", { backendNodeId })) as {
      object: { objectId: string };
    };
    const { result } = (await session.send("Runtime.callFunctionOn", {
      objectId: object.objectId,
      functionDeclaration:
        "function (key) { if (!this.isConnected) return false; this.ownerDocument.defaultView[key] = this; return true; }",
      arguments: [{ value: key }],
      returnByValue: true,
    })) as { result: { value: boolean } };
    if (!result.value) return null;
  } catch {
    // The node or its document is gone.
    return null;
  }
  for (const candidate of [frame, ...page.frames().filter((other) => other !== frame)]) {
    const handle = await take(candidate, key);
    if (handle !== null) return handle;
  }
  return null;
}

async function take(frame: Frame, key: string): Promise<ElementHandle<Element> | null> {
  try {
    const handle = await frame.evaluateHandle((name) => {
      const place = window as unknown as Record<string, Element | undefined>;
      const element = place[name];
      delete place[name];
      return element;
    }, key);
    return handle.asElement();
  } catch {
    // A frame that is gone or navigating does not have it.
    return null;
  }
}
