import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { SendMessageRequest } from "@convoke/protocol";
import { invalidParams } from "./session-errors.ts";

export type MessageContent = NonNullable<SendMessageRequest["content"]>;

/** The parts of a message. Files that come along are quoted with their address; the agent reads the others itself. */
export function toMessageContent(prompt: readonly ContentBlock[]): MessageContent {
  if (prompt.length === 0) throw invalidParams("prompt is empty. Send at least one content block.");
  return prompt.map((block, index) => {
    switch (block.type) {
      case "text":
        return text(block.text);
      case "image":
        return { type: "image", image_urls: [`data:${block.mimeType};base64,${block.data}`] };
      case "resource_link":
        return text(`[${block.name}](${block.uri})`);
      case "resource": {
        const { resource } = block;
        if (!("text" in resource))
          throw invalidParams(`prompt[${index}] is a binary file. Send a text, a picture or a link.`);
        return text(`<file uri=${JSON.stringify(resource.uri)}>\n${resource.text}\n</file>`);
      }
      default:
        throw invalidParams(`prompt[${index}] is of the type ${block.type}. Send text, image or resource.`);
    }
  });
}

/** A command of {@link ownCommands} and what stands behind it; null for anything else. */
export function readCommand(prompt: readonly ContentBlock[]): { name: CommandName; text: string } | null {
  const [first] = prompt;
  if (first?.type !== "text") return null;
  const [, word = "", rest = ""] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/u.exec(first.text.trim()) ?? [];
  const known = ownCommands.find(({ name }) => name === word);
  return known === undefined ? null : { name: known.name, text: rest.trim() };
}

export type CommandName = "approve" | "condense";

/** Commands that are carried out here. Skills come besides, and the agent reads those. */
export const ownCommands = [
  { name: "approve", description: "Approve the plan and carry it out", hint: "a message to add, or nothing" },
  { name: "condense", description: "Shorten what the model reads of this conversation", hint: null },
] as const satisfies readonly { name: CommandName; description: string; hint: string | null }[];

function text(value: string): MessageContent[number] {
  return { type: "text", text: value, cache_prompt: false };
}
