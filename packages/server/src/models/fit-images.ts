import type { ImageContent, TextContent } from "@convoke/protocol";
import type { Attempt } from "./attempt.ts";
import { readImageSize, readInlineImage, typeOfData } from "./inline-image.ts";
import { unseenImage } from "./message-text.ts";
import type { ModelMessage } from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";

/** What a provider takes of images. Sources: the API references of each, vision or limits. */
export type ImageLimits = {
  readonly isSeen: boolean;
  readonly count: number;
  /** Of one image, decoded. */
  readonly bytes: number;
  /** Longest side of one image. */
  readonly pixels: number;
  /** The same where a request has more than 20 images. */
  readonly pixelsOfMany: number;
  readonly takesAddresses: boolean;
};

type Part = TextContent | ImageContent;

const mebibyte = 1024 * 1024;
const many = 20;
const knownTypes = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** The limits of a route. */
export function imageLimitsOf({ route, isVisionEnabled }: ModelSettings): ImageLimits {
  const open: ImageLimits = {
    isSeen: isVisionEnabled,
    count: 500,
    bytes: 20 * mebibyte,
    pixels: Number.POSITIVE_INFINITY,
    pixelsOfMany: Number.POSITIVE_INFINITY,
    takesAddresses: true,
  };
  if (route.provider === "groq") return { ...open, count: 5, bytes: 4 * mebibyte };
  switch (route.wire) {
    case "anthropic":
      return { ...open, count: 100, bytes: 5 * mebibyte, pixels: 8000, pixelsOfMany: 2000 };
    case "bedrock":
      return { ...open, count: 20, bytes: 3.75 * mebibyte, pixels: 8000, takesAddresses: false };
    case "google":
      return { ...open, bytes: 15 * mebibyte, takesAddresses: false };
    default:
      return route.provider.startsWith("ollama") ? { ...open, takesAddresses: false } : open;
  }
}

/** An attempt that never sends an image which the provider would refuse: a sentence stands in its place. */
export function withFittedImages(attempt: Attempt, limits: ImageLimits): Attempt {
  return (request, context) =>
    attempt({ ...request, messages: fitImages(request.messages, limits) }, context);
}

/**
 * Replaces images that do not fit by sentences. When there are too many, old ones go, several at a time, so that the
 * beginning of the history stays the same from one request to the next more often than not.
 */
export function fitImages(messages: readonly ModelMessage[], limits: ImageLimits): readonly ModelMessage[] {
  const total = messages.reduce((sum, message) => sum + countImages(message), 0);
  if (total === 0) return messages;
  const step = Math.max(1, Math.floor(limits.count / 5));
  const dropped = total > limits.count ? Math.ceil((total - limits.count) / step) * step : 0;
  const pixels = total - dropped > many ? limits.pixelsOfMany : limits.pixels;
  let seen = 0;
  const fit = (part: Part): Part[] => {
    if (!("image_urls" in part)) return [part];
    return part.image_urls.map((declared): Part => {
      const url = withOwnType(declared);
      seen += 1;
      const problem = seen <= dropped && limits.isSeen ? tooMany(limits) : problemOf(url, limits, pixels);
      return problem === null ? { ...part, image_urls: [url] } : { type: "text", text: problem };
    });
  };
  return messages.map((message) =>
    message.role === "user" || message.role === "tool"
      ? { ...message, content: message.content.flatMap(fit) }
      : message,
  );
}

/** The image with the type that its data has. */
function withOwnType(url: string): string {
  const image = readInlineImage(url);
  const type = image === null ? null : typeOfData(image.base64);
  return image === null || type === null || type === image.mediaType
    ? url
    : `data:${type};base64,${image.base64}`;
}

function countImages(message: ModelMessage): number {
  if (message.role !== "user" && message.role !== "tool") return 0;
  return message.content.reduce((sum, part) => sum + ("image_urls" in part ? part.image_urls.length : 0), 0);
}

function tooMany({ count }: ImageLimits): string {
  return `[An older image is left out: this model takes at most ${count} images.]`;
}

function problemOf(url: string, limits: ImageLimits, pixels: number): string | null {
  if (!limits.isSeen) return unseenImage;
  const image = readInlineImage(url);
  if (image === null) {
    if (/^data:/iu.test(url)) return "[An image is left out: its address holds no image that can be read.]";
    return limits.takesAddresses
      ? null
      : `[The image at ${url.slice(0, 500).toWellFormed()} is left out: this model takes no addresses.]`;
  }
  if (!knownTypes.has(image.mediaType))
    return `[An image of type ${image.mediaType} is left out: it is not supported.]`;
  if (typeOfData(image.base64) === null) return "[An image is left out: its data is that of no known image.]";
  const bytes = Math.floor((image.base64.length * 3) / 4);
  if (bytes > limits.bytes) {
    return `[An image of ${inMegabytes(bytes)} MB is left out: this model takes at most ${inMegabytes(limits.bytes)} MB.]`;
  }
  if (pixels === Number.POSITIVE_INFINITY) return null;
  const size = readImageSize(image);
  if (size === null || Math.max(size.width, size.height) <= pixels) return null;
  return `[An image of ${size.width} x ${size.height} pixels is left out: this model takes at most ${pixels} on a side.]`;
}

function inMegabytes(bytes: number): string {
  return (bytes / mebibyte).toFixed(2).replace(/\.?0+$/u, "");
}
