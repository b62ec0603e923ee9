import { parseMarkdown, safeAddress } from "@convoke/client/markdown";
import type { Token, Tokens } from "marked";
import { escapeHtml } from "./escape-html.ts";

/** Markdown as HTML. Tags in the text are shown as text, pictures are links, and links lead to web and mail addresses alone. */
export function markdownHtml(text: string): string {
  return parseMarkdown(text).map(blockHtml).join("\n");
}

function blockHtml(token: Token): string {
  switch (token.type) {
    case "heading": {
      // Headings of a message come below those of the document.
      const level = Math.min(6, (token as Tokens.Heading).depth + 2);
      return `<h${level}>${inlineHtml(token)}</h${level}>`;
    }
    case "paragraph":
      return `<p>${inlineHtml(token)}</p>`;
    case "code":
      return `<pre><code>${escapeHtml((token as Tokens.Code).text)}</code></pre>`;
    case "blockquote":
      return `<blockquote>${blocksHtml(token)}</blockquote>`;
    case "list":
      return listHtml(token as Tokens.List);
    case "table":
      return tableHtml(token as Tokens.Table);
    case "hr":
      return "<hr>";
    case "text":
      return inlineHtml(token);
    case "space":
      return "";
    default:
      return `<p>${escapeHtml(token.raw)}</p>`;
  }
}

function blocksHtml(token: Token): string {
  const children = "tokens" in token ? (token.tokens ?? []) : [];
  return children.map(blockHtml).join("");
}

function listHtml(list: Tokens.List): string {
  const items = list.items.map((item) => {
    const box = item.task
      ? `<input type="checkbox" disabled${item.checked === true ? " checked" : ""}> `
      : "";
    return `<li>${box}${blocksHtml(item)}</li>`;
  });
  if (!list.ordered) return `<ul>${items.join("")}</ul>`;
  return `<ol start="${Number(list.start) || 1}">${items.join("")}</ol>`;
}

function tableHtml({ header, rows }: Tokens.Table): string {
  const row = (cells: readonly Tokens.TableCell[], name: "th" | "td"): string =>
    `<tr>${cells.map((cell) => `<${name}>${inlineHtml(cell)}</${name}>`).join("")}</tr>`;
  const body = rows.map((cells) => row(cells, "td")).join("");
  return `<div class="wide"><table><thead>${row(header, "th")}</thead><tbody>${body}</tbody></table></div>`;
}

function inlineHtml(token: Token | Tokens.TableCell): string {
  const children = "tokens" in token ? token.tokens : undefined;
  if (children === undefined) return escapeHtml("text" in token ? token.text : "");
  return children.map(spanHtml).join("");
}

function spanHtml(token: Token): string {
  switch (token.type) {
    case "strong":
      return `<strong>${inlineHtml(token)}</strong>`;
    case "em":
      return `<em>${inlineHtml(token)}</em>`;
    case "del":
      return `<del>${inlineHtml(token)}</del>`;
    case "codespan":
      return `<code>${escapeHtml((token as Tokens.Codespan).text)}</code>`;
    case "br":
      return "<br>";
    case "escape":
      return escapeHtml((token as Tokens.Escape).text);
    case "link":
      return linkHtml((token as Tokens.Link).href, inlineHtml(token), token.raw);
    case "image": {
      const { href, text } = token as Tokens.Image;
      return linkHtml(href, escapeHtml(text || href), token.raw);
    }
    case "text":
      return "tokens" in token && token.tokens !== undefined
        ? inlineHtml(token)
        : escapeHtml((token as Tokens.Text).text);
    default:
      return escapeHtml(token.raw);
  }
}

function linkHtml(address: string, label: string, raw: string): string {
  const safe = safeAddress(address);
  return safe === null
    ? escapeHtml(raw)
    : `<a href="${escapeHtml(safe)}" rel="noopener noreferrer nofollow">${label}</a>`;
}
