import type { ContentBlock } from "@agentclientprotocol/sdk";

type Part = { readonly type?: string; readonly text?: string; readonly image_urls?: readonly string[] };

/** What a message says, as the blocks of a prompt. Images go where the agent takes them, and are named where it does not. */
export function toPromptContent(parts: readonly object[], takesImages: boolean): ContentBlock[] {
  return (parts as readonly Part[]).flatMap((part): ContentBlock[] => {
    if (typeof part.text === "string") return part.text === "" ? [] : [{ type: "text", text: part.text }];
    return (part.image_urls ?? []).map((url) => imageBlock(url, takesImages));
  });
}

function imageBlock(url: string, takesImages: boolean): ContentBlock {
  const [, mimeType, data] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url) ?? [];
  if (mimeType === undefined || data === undefined) return { type: "resource_link", name: "image", uri: url };
  return takesImages
    ? { type: "image", mimeType, data }
    : { type: "text", text: "[An image was sent with this message; this agent takes none.]" };
}
