import type { Frame, Page } from "playwright-core";

/** Longest part of a page that one answer has, as in the reference. */
const pageLimit = 30_000;

/** The main content of a page as it is now, its shadow roots and frames included, as Markdown. */
export async function pageMarkdown(page: Page, wantsLinks: boolean): Promise<string> {
  const { default: TurndownService } = await import("turndown");
  const { default: plugins } = await import("@joplin/turndown-plugin-gfm");
  const turndown = new TurndownService({
    headingStyle: "atx",
    bulletListMarker: "-",
    codeBlockStyle: "fenced",
  });
  turndown.use([plugins.tables, plugins.strikethrough]);
  // It is read by a model: a name in the text stays as the page shows it.
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

/** The part of a text from `start` that fits, up to a blank line or the end of a sentence where there is one near the limit. */
export function takePart(text: string, start: number): string {
  if (text.length - start <= pageLimit) return text.slice(start);
  const part = text.slice(start, start + pageLimit);
  const paragraph = part.lastIndexOf("\n\n");
  if (paragraph > pageLimit - 500) return part.slice(0, paragraph);
  const sentence = part.lastIndexOf(".");
  return sentence > pageLimit - 200 ? part.slice(0, sentence + 1) : part.toWellFormed();
}

/** A page that goes elsewhere while it is read is read where it arrives; one that cannot be read fails. */
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
    // A frame that is gone, or never answered, has nothing to read.
    return null;
  }
}

/** Runs in the page: its main part as HTML without scripts, styles and what is not shown. */
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
    // Names that Markdown does not know only group; block ones must stay apart.
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
