import type { Frame, Page } from "playwright-core";

/** Maximum length of the content in one answer, as in the reference. */
const pageLimit = 30_000;

/** The current main content of a page as Markdown, including shadow roots and frames. */
export async function pageMarkdown(page: Page, wantsLinks: boolean): Promise<string> {
  const { default: TurndownService } = await import("turndown");
  const { default: plugins } = await import("@joplin/turndown-plugin-gfm");
  const turndown = new TurndownService({
    headingStyle: "atx",
    bulletListMarker: "-",
    codeBlockStyle: "fenced",
  });
  turndown.use([plugins.tables, plugins.strikethrough]);
  // For a model: names in the text stay as the page shows them.
  turndown.escape = (text) => text;
  const main = page.mainFrame();
  const parts: string[] = [];
  for (const frame of page.frames()) {
    const html = frame === main ? await readMain(page, wantsLinks) : await readHtml(frame, wantsLinks);
    const text =
      html === null
        ? ""
        : turndown
            .turndown(html)
            .replaceAll(/\n{3,}/g, "\n\n")
            .trim();
    if (text !== "") parts.push(frame === main ? text : `Frame ${frame.url()}:\n\n${text}`);
  }
  return parts.join("\n\n");
}

/** The part of a text from `start` that fits, up to a blank line or sentence end near the limit if possible. */
export function takePart(text: string, start: number): string {
  if (text.length - start <= pageLimit) return text.slice(start);
  const part = text.slice(start, start + pageLimit);
  const paragraph = part.lastIndexOf("\n\n");
  if (paragraph > pageLimit - 500) return part.slice(0, paragraph);
  const sentence = part.lastIndexOf(".");
  return sentence > pageLimit - 200 ? part.slice(0, sentence + 1) : part.toWellFormed();
}

/** A page that navigates while it is read is read at its destination; one that cannot be read fails. */
async function readMain(page: Page, wantsLinks: boolean): Promise<string> {
  try {
    return await page.evaluate(serializeMain, wantsLinks);
  } catch (error) {
    if (!/context was destroyed|navigat/i.test(String(error))) throw error;
    await page.waitForLoadState("domcontentloaded", { timeout: 4_000 });
    return await page.evaluate(serializeMain, wantsLinks);
  }
}

async function readHtml(frame: Frame, wantsLinks: boolean): Promise<string | null> {
  try {
    const owner = await frame.frameElement();
    const box = await owner.boundingBox();
    if (box === null || box.width < 10 || box.height < 10) return null;
    return await frame.evaluate(serializeMain, wantsLinks);
  } catch {
    // A frame that is gone, or does not answer, has no content.
    return null;
  }
}

/** Runs in the page: the HTML of its main part, without scripts, styles and invisible elements. */
function serializeMain(wantsLinks: boolean): string {
  const left = new Set([
    "SCRIPT",
    "STYLE",
    "NOSCRIPT",
    "TEMPLATE",
    "IFRAME",
    "SVG",
    "CANVAS",
    "OBJECT",
    "HEAD",
    "LINK",
    "META",
  ]);
  const besides = new Set(["NAV", "FOOTER", "ASIDE"]);
  const roles = new Set(["navigation", "contentinfo", "complementary", "banner", "search"]);
  const escapeText = (text: string): string =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const escapeValue = (text: string): string => escapeText(text).replaceAll('"', "&quot;");

  const attributesOf = (element: Element, tag: string): string => {
    if (tag === "A" && wantsLinks) {
      const { href } = element as HTMLAnchorElement;
      return typeof href === "string" && href !== "" ? ` href="${escapeValue(href)}"` : "";
    }
    if (tag === "IMG") {
      const { src } = element as HTMLImageElement;
      const address = wantsLinks && !src.startsWith("data:") ? src : "";
      return ` alt="${escapeValue(element.getAttribute("alt") ?? "")}" src="${escapeValue(address)}"`;
    }
    if (tag === "TD" || tag === "TH") {
      const span = element.getAttribute("colspan");
      return span === null ? "" : ` colspan="${escapeValue(span)}"`;
    }
    if (tag === "CODE" || tag === "PRE") {
      const name = element.getAttribute("class");
      return name === null ? "" : ` class="${escapeValue(name)}"`;
    }
    return tag === "OL" ? ` start="${(element as HTMLOListElement).start}"` : "";
  };

  const serialize = (node: Node, isWhole: boolean): string => {
    if (node.nodeType === Node.TEXT_NODE) return escapeText(node.nodeValue ?? "");
    if (!(node instanceof Element)) return "";
    const tag = node.tagName.toUpperCase();
    if (left.has(tag)) return "";
    if (!isWhole && (besides.has(tag) || roles.has(node.getAttribute("role") ?? ""))) return "";
    if (
      tag !== "BODY" &&
      !node.checkVisibility({ visibilityProperty: true }) &&
      getComputedStyle(node).display !== "contents"
    )
      return "";
    if (tag === "IMG") {
      const alt = node.getAttribute("alt") ?? "";
      if (wantsLinks) return `<img${attributesOf(node, tag)}>`;
      return alt === "" ? "" : ` [picture: ${escapeText(alt)}] `;
    }
    if (tag === "BR" || tag === "HR") return `<${tag}>`;
    if (tag === "TEXTAREA" || tag === "INPUT") {
      const { value, type } = node as HTMLInputElement;
      return type === "password" || type === "hidden" || value === "" ? "" : ` [${escapeText(value)}] `;
    }
    if (tag === "SELECT") {
      const chosen = [...(node as HTMLSelectElement).selectedOptions].map((option) => option.text).join(", ");
      return chosen === "" ? "" : ` [${escapeText(chosen)}] `;
    }
    let inner = "";
    const children =
      node instanceof HTMLSlotElement && node.assignedNodes().length > 0
        ? node.assignedNodes()
        : (node.shadowRoot ?? node).childNodes;
    for (const child of children) inner += serialize(child, isWhole);
    if (tag === "A" && !wantsLinks) return inner;
    // Unknown element names only group; block-level ones must stay separate.
    const name = tag.includes("-") || tag === "SLOT" ? "div" : tag.toLowerCase();
    return `<${name}${attributesOf(node, tag)}>${inner}</${name}>`;
  };

  const lengthOf = (html: string): number => html.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ").length;
  const { body } = document;
  if (body === null) return "";
  const whole = serialize(body, true);
  const all = lengthOf(whole);
  const mains = document.querySelectorAll("main, [role=main]");
  const main = mains.length === 1 ? serialize(mains[0]!, true) : "";
  if (main !== "" && lengthOf(main) >= all / 4) return main;
  const without = serialize(body, false);
  return lengthOf(without) >= all / 4 ? without : whole;
}
