import type { ImageContent, MCPToolObservation, TextContent } from "@convoke/protocol";
import { clipText, shortNotice, textLimits } from "@convoke/tool-host";
import { isBounded } from "../../lib/is-bounded.ts";
import { isObject, objectOr } from "../../lib/json-object.ts";

const maxImages = 10;
/** Of base64; what providers take is smaller still. */
const longestImageChars = 8 * 1024 * 1024;
const maxBlocks = 200;
/** Indented, each level costs its depth on every line. */
const structureBounds = { maxValues: 50_000, maxLevels: 100, maxChars: 1024 * 1024 };

/** A server's answer as the log and the model get it: what was called, then its blocks in their order; nothing is dropped in silence. */
export function toObservation(tool: string, result: unknown): MCPToolObservation {
  const { structuredContent, isError } = objectOr(result);
  const blocks = blocksOf(result);
  const parts = blocks.slice(0, maxBlocks).map(toPart);
  if (blocks.length > maxBlocks) parts.push(leftOut(blocks.length - maxBlocks));
  if (structuredContent !== undefined && !parts.some((part) => "text" in part && hasWords(part.text)))
    parts.push(text(shown(structuredContent, "Structured content")));
  if (!parts.some((part) => !("text" in part) || hasWords(part.text))) parts.push(text(emptyAnswer));
  return {
    kind: "MCPToolObservation",
    content: [text(`[${tool} answered]`), ...withinLimits(parts)],
    is_error: isError === true,
    tool_name: tool,
  };
}

const emptyAnswer = "(The answer is empty.)";

/** The parts of an answer, also of one that is not in the form of the protocol. */
function blocksOf(result: unknown): readonly unknown[] {
  if (!isObject(result)) return listOf(result);
  const { content, structuredContent, isError: _isError, _meta, ...others } = result;
  const blocks = listOf(content);
  if (blocks.length > 0 || structuredContent !== undefined || Object.keys(others).length === 0) return blocks;
  // Such as toolResult, which the protocol had at first.
  return [{ type: "text", text: shown(others, "The answer") }];
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[];
  return value === undefined || value === null ? [] : [value];
}

function hasWords(words: string): boolean {
  return words.trim() !== "";
}

/** Any value as text. */
function shown(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  return isBounded(value, structureBounds)
    ? (JSON.stringify(value, null, 2) ?? "")
    : `(${what} was left out: it is too large.)`;
}

function leftOut(count: number): TextContent {
  return text(count === 1 ? "(1 more part was left out.)" : `(${count} more parts were left out.)`);
}

function toPart(block: unknown): TextContent | ImageContent {
  if (typeof block !== "object" || block === null) return text(shown(block, "A part"));
  const { type, text: words, data, mimeType, uri, name, resource } = objectOr(block);
  switch (type) {
    case "text":
      return text(words === undefined || words === null ? "(A part without text.)" : shown(words, "A text"));
    case "image":
      return isBase64(data) && typeof mimeType === "string" && mimeType.startsWith("image/")
        ? { type: "image", image_urls: [`data:${mimeType};base64,${data}`], cache_prompt: false }
        : text("(An image that cannot be read was left out.)");
    case "audio":
      return text(`(Audio of type ${nameOf(mimeType)}, ${sizeOf(data)}, was left out: it cannot be shown.)`);
    case "resource_link":
      return text(`(A link to ${typeof name === "string" ? name : "a resource"}: ${nameOf(uri)})`);
    case "resource": {
      const { text: body, blob, uri: address, mimeType: kind } = objectOr(resource);
      if (typeof body === "string") return text(`(The resource ${nameOf(address)})\n${body}`);
      return text(`(The resource ${nameOf(address)} of type ${nameOf(kind)}, ${sizeOf(blob)}, is not text.)`);
    }
    default:
      if (typeof words !== "string")
        return text(
          `(A part of the ${typeof type === "string" ? `unknown type ${type}` : "wrong form"} was left out.)`,
        );
      return text(type === undefined ? words : `(A part of the unknown type ${nameOf(type)})\n${words}`);
  }
}

function nameOf(value: unknown): string {
  return typeof value === "string" && value !== "" ? value : "unknown";
}

/** A picture that is none would be refused by the provider, with every request that repeats it. */
function isBase64(data: unknown): data is string {
  return typeof data === "string" && data !== "" && data.length % 4 === 0 && /^[\w+/]+={0,2}$/u.test(data);
}

/** Texts share one limit, so that many small ones are no way around it. */
function withinLimits(parts: readonly (TextContent | ImageContent)[]): (TextContent | ImageContent)[] {
  let charsLeft: number = textLimits.toolMessage;
  let imagesLeft = maxImages;
  let left = 0;
  const taken = parts.flatMap((part): (TextContent | ImageContent)[] => {
    const isText = "text" in part;
    if (isText ? charsLeft <= 0 : imagesLeft === 0) {
      left += 1;
      return [];
    }
    if (!isText) {
      imagesLeft -= 1;
      const isTooLarge = part.image_urls.some((url) => url.length > longestImageChars);
      return [isTooLarge ? text("(An image was left out: it is too large.)") : part];
    }
    const clipped = clipText(part.text, charsLeft, shortNotice);
    charsLeft -= clipped.length;
    return [text(clipped)];
  });
  return left === 0 ? taken : [...taken, leftOut(left)];
}

function text(words: string): TextContent {
  return { type: "text", text: words, cache_prompt: false };
}

function sizeOf(base64: unknown): string {
  return typeof base64 === "string" ? `about ${Math.ceil((base64.length * 3) / 4)} bytes` : "empty";
}
