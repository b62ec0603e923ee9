import { createHash } from "node:crypto";
import type { ModelMessage, ModelTool } from "../models/model.ts";
import { isContinued } from "./is-continued.ts";

/** Incremental digests of a request whose messages grow at their end (P59). */
export class RequestHash {
  #messages: readonly ModelMessage[] = [];
  #digest = "";
  #tools: readonly ModelTool[] | null = null;
  #toolsDigest = "";

  messages(messages: readonly ModelMessage[]): string {
    const isGrown = isContinued(this.#messages, messages);
    let digest = isGrown ? this.#digest : "";
    for (const message of isGrown ? messages.slice(this.#messages.length) : messages)
      digest = sha256(`${digest}${JSON.stringify(message)}`);
    this.#messages = messages;
    this.#digest = digest;
    return digest;
  }

  tools(tools: readonly ModelTool[]): string {
    if (tools !== this.#tools) {
      this.#tools = tools;
      this.#toolsDigest = sha256(JSON.stringify(tools));
    }
    return this.#toolsDigest;
  }
}

/** The first 128 bits, as hexadecimal digits. */
function sha256(value: string): string {
  return createHash("sha256").update(value).digest("hex").slice(0, 32);
}
