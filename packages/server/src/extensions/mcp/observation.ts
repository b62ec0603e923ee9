import type { ImageContent, MCPToolObservation, TextContent } from "@convoke/protocol";
import { clipText, shortNotice, textLimits } from "@convoke/tool-host";
import { isBounded } from "../../lib/is-bounded.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const mostImages = 10;
/** Of base64; what providers take is smaller still. */
const longestImageChars = 8 * 1024 * 1024;
const mostBlocks = 200;
/** Indented, each level costs its depth on every line. */
const structureBounds = { mostValues: 50_000, mostLevels: 100, mostChars: 1024 * 1024 };

/** A server's answer as the log and the model get it: what was called, then its blocks in their order; nothing is dropped in silence. */
export function toObservation(tool: string, result: unknown): MCPToolObservation {
  const { content, structuredContent, isError } = objectOf(result);
  const blocks = Array.isArray(content) ? (content as unknown[]) : [];
  const parts = blocks.slice(0, mostBlocks).map(toPart);
  if (blocks.length > mostBlocks)
    parts.push(text(`(${blocks.length - mostBlocks} more parts were left out.)`));
  const hasText = blocks.some((block) => objectOf(block)["type"] === "text");
  if (structuredContent !== undefined && !hasText)
    parts.push(
      text(
        isBounded(structuredContent, structureBounds)
          ? JSON.stringify(structuredContent, null, 2)
          : "(Structured content was left out: it is too large.)",
      ),
    );
  return {
    kind: "MCPToolObservation",
    content: [text(`[${tool} answered]`), ...withinLimits(parts)],
    is_error: isError === true,
    tool_name: tool,
  };
}

function toPart(block: unknown): TextContent | ImageContent {
  const { type, text: words, data, mimeType, uri, name, resource } = objectOf(block);
  switch (type) {
    case "text":
      return text(typeof words === "string" ? words : "");
    case "image":
      return typeof data === "string" && typeof mimeType === "string" && mimeType.startsWith("image/")
        ? { type: "image", image_urls: [`data:${mimeType};base64,${data}`], cache_prompt: false }
        : text("(An image that cannot be read was left out.)");
    case "audio":
      return text(`(Audio of type ${String(mimeType)}, ${sizeOf(data)}, was left out: it cannot be shown.)`);
    case "resource_link":
      return text(`(A link to ${typeof name === "string" ? name : "a resource"}: ${String(uri)})`);
    case "resource": {
      const { text: body, blob, uri: address, mimeType: kind } = objectOf(resource);
      if (typeof body === "string") return text(`(The resource ${String(address)})\n${body}`);
      return text(`(The resource ${String(address)} of type ${String(kind)}, ${sizeOf(blob)}, is not text.)`);
    }
    default:
      return text(`(A part of the unknown type ${String(type)} was left out.)`);
  }
}

/** Texts share one limit, so that many small ones are no way around it. */
function withinLimits(parts: readonly (TextContent | ImageContent)[]): (TextContent | ImageContent)[] {
  let charsLeft: number = textLimits.toolMessage;
  let imagesLeft = mostImages;
  return parts.flatMap((part): (TextContent | ImageContent)[] => {
    if (!("text" in part)) {
      if (imagesLeft === 0) return [];
      imagesLeft -= 1;
      const isTooLarge = part.image_urls.some((url) => url.length > longestImageChars);
      return [isTooLarge ? text("(An image was left out: it is too large.)") : part];
    }
    if (charsLeft <= 0) return [];
    const clipped = clipText(part.text, charsLeft, shortNotice);
    charsLeft -= clipped.length;
    return [text(clipped)];
  });
}

function text(words: string): TextContent {
  return { type: "text", text: words, cache_prompt: false };
}

function sizeOf(base64: unknown): string {
  return typeof base64 === "string" ? `about ${Math.ceil((base64.length * 3) / 4)} bytes` : "empty";
}

function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? (value as JsonObject) : {};
}
