import type { ImageContent } from "@convoke/protocol";

/** A text part of an observation with all fields. */
export function textPart(text: string) {
  return { cache_prompt: false, type: "text", text } as const;
}

/** An image part of an observation. */
export function imagePart(url: string) {
  return { cache_prompt: false, type: "image", image_urls: [url] } satisfies ImageContent;
}
