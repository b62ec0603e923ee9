import type { CDPSession, Frame, Page } from "playwright-core";
import { ToolInputError, type ToolSecret } from "../../tool.ts";
import type { Snapshot } from "./snapshot.ts";

/** A document in an isolated world, with a node of each closed shadow root, because those cannot be found from outside. */
type World = {
  readonly session: CDPSession;
  readonly contextId: number;
  readonly closedNodes: readonly string[];
};

const maxClosedNodes = 5_000;

/** The secret values that are searched in pages. */
export function hiddenValues(secrets: readonly ToolSecret[]): readonly string[] {
  return secrets.flatMap(({ value, isPlaceholder }) => (isPlaceholder || value === "" ? [] : [value]));
}

/**
 * Takes a screenshot of a page in which no secret is readable. The search runs in an isolated world: in the page's own world its
 * scripts could observe the values. Two screenshots at a time would undo each other.
 */
export async function withSecretsHidden<Picture>(
  page: Page,
  values: readonly string[],
  shoot: () => Promise<Picture>,
): Promise<Picture> {
  if (values.length === 0) return await shoot();
  const sessions = await openSessions(page);
  try {
    const worlds = (await Promise.all(sessions.map(openWorlds))).flat();
    await Promise.all(worlds.map((world) => run(world, hide, values)));
    await Promise.all(worlds.map((world) => run(world, painted, [])));
    try {
      return await shoot();
    } finally {
      await Promise.all(worlds.map((world) => run(world, show, [])));
    }
  } finally {
    // The page or the frame is gone.
    await Promise.all(sessions.map((session) => session.detach().catch(() => {})));
  }
}

/** One session for the page, and one for each out-of-process frame. */
async function openSessions(page: Page): Promise<CDPSession[]> {
  const context = page.context();
  const open = async (frame: Frame): Promise<CDPSession[]> => {
    // A frame in the page's process has no session of its own.
    const session = await context.newCDPSession(frame).catch(() => null);
    return session === null ? [] : [session];
  };
  const main = page.mainFrame();
  const others = page.frames().filter((frame) => frame !== main);
  const opened = await Promise.all(others.map(open));
  return [await context.newCDPSession(page), ...opened.flat()];
}

type FrameTree = { readonly frame: { readonly id: string }; readonly childFrames?: readonly FrameTree[] };

async function openWorlds(session: CDPSession): Promise<World[]> {
  const { frameTree } = (await session.send("Page.getFrameTree")) as { frameTree: FrameTree };
  const idsOf = (tree: FrameTree): string[] => [tree.frame.id, ...(tree.childFrames ?? []).flatMap(idsOf)];
  const closed = await findClosedNodes(session);
  const worlds = await Promise.all(
    idsOf(frameTree).map(async (frameId): Promise<World[]> => {
      const made = await session
        .send("Page.createIsolatedWorld", { frameId, worldName: "convoke" })
        .catch(() => null); // An out-of-process frame, or one that is gone.
      if (made === null) return [];
      const contextId = made.executionContextId;
      const nodes = (closed.get(frameId) ?? []).map(async (backendNodeId) => {
        const node = await session
          .send("DOM.resolveNode", { backendNodeId, executionContextId: contextId })
          .catch(() => null); // It went away.
        return node?.object.objectId ?? [];
      });
      return [{ session, contextId, closedNodes: (await Promise.all(nodes)).flat() }];
    }),
  );
  return worlds.flat();
}

/** One node per parent in closed shadow roots, by frame: the snapshot lists nodes, not their roots. */
async function findClosedNodes(session: CDPSession): Promise<ReadonlyMap<string, number[]>> {
  const { documents, strings } = (await session.send("DOMSnapshot.captureSnapshot", {
    computedStyles: [],
  })) as Snapshot;
  return new Map(
    documents.map(({ frameId, nodes }) => {
      const { index = [], value = [] } = nodes.shadowRootType ?? {};
      const ofParents = new Map<number | undefined, number>();
      index.forEach((node, at) => {
        if (strings[value[at] ?? -1] === "closed") ofParents.set(nodes.parentIndex[node], node);
      });
      if (ofParents.size > maxClosedNodes)
        throw new ToolInputError(
          "The page has too much in closed shadow roots to look for secrets there, so no picture was taken. Read it without include_screenshot.",
        );
      const found = [...ofParents.values()].map((node) => nodes.backendNodeId[node]!);
      return [strings[frameId ?? -1] ?? "", found];
    }),
  );
}

async function run(
  { session, contextId, closedNodes }: World,
  body: (values: string[], ...closed: Node[]) => void | Promise<void>,
  values: readonly string[],
): Promise<void> {
  await session
    .send("Runtime.callFunctionOn", {
      executionContextId: contextId,
      functionDeclaration: body.toString(),
      awaitPromise: true,
      arguments: [{ value: [...values] }, ...closedNodes.map((objectId) => ({ objectId }))],
    })
    .catch(() => {}); // The document is gone, and with it what it showed.
}

/** Runs in the page's documents, isolated from their scripts. */
function hide(values: string[], ...closed: Node[]): void {
  const ranges: Range[] = [];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    "::highlight(convoke-hidden) { color: transparent; background-color: black; } [data-convoke-hidden] { -webkit-text-security: disc !important; color: transparent !important; }",
  );
  const visit = (root: Document | ShadowRoot): void => {
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node instanceof Text) {
        for (const value of values) {
          for (
            let at = node.data.indexOf(value);
            at !== -1;
            at = node.data.indexOf(value, at + value.length)
          ) {
            const range = new Range();
            range.setStart(node, at);
            range.setEnd(node, at + value.length);
            ranges.push(range);
          }
        }
        continue;
      }
      const element = node as Element;
      const content = (element as HTMLInputElement).value;
      if (typeof content === "string" && values.some((value) => content.includes(value)))
        element.setAttribute("data-convoke-hidden", "");
      if (element.shadowRoot !== null) visit(element.shadowRoot);
    }
  };
  for (const root of new Set([document, ...closed.map((node) => node.getRootNode())]))
    visit(root as Document | ShadowRoot);
  CSS.highlights.set("convoke-hidden", new Highlight(...ranges));
}

/**
 * Resolves when a document's current state has been drawn: an out-of-process frame is drawn separately, so a screenshot of the page
 * may contain its previous state. An invisible frame is not drawn, and is not in the screenshot.
 */
async function painted(): Promise<void> {
  await new Promise<void>((done) => {
    setTimeout(done, 250);
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
  });
}

/** Undoes {@link hide}. */
function show(_values: string[], ...closed: Node[]): void {
  CSS.highlights.delete("convoke-hidden");
  const visit = (root: Document | ShadowRoot): void => {
    root.adoptedStyleSheets = root.adoptedStyleSheets.filter(
      (sheet) => !sheet.cssRules[0]?.cssText.includes("convoke-hidden"),
    );
    for (const element of root.querySelectorAll("*")) {
      element.removeAttribute("data-convoke-hidden");
      if (element.shadowRoot !== null) visit(element.shadowRoot);
    }
  };
  for (const root of new Set([document, ...closed.map((node) => node.getRootNode())]))
    visit(root as Document | ShadowRoot);
}
