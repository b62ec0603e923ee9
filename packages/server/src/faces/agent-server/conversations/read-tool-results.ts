import type { SendToolResultsRequest } from "@convoke/protocol";
import type { ClientResult } from "../../../engine/client-calls.ts";
import { invalidField } from "../../../lib/fault.ts";

/** What a result may have for a model: its texts together, and one image. */
const longestTextChars = 1024 * 1024;
const longestImageChars = 8 * 1024 * 1024;

/** Results of client tools, as the engine takes them. */
export function readToolResults({ results }: SendToolResultsRequest, loc: readonly string[]): ClientResult[] {
  return results.map(({ tool_call_id: call, content, is_error: isError = false }, index) => {
    const given = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    const place = [...loc, "results", index, "content"];
    let chars = 0;
    const parts = given.map((part) => {
      if ("text" in part) {
        chars += part.text.length;
        return { ...part, type: "text" as const, cache_prompt: false };
      }
      if (part.image_urls.some((url) => url.length > longestImageChars))
        throw invalidField(place, `An image may have ${longestImageChars} characters.`, "too_long");
      return { ...part, type: "image" as const, cache_prompt: false };
    });
    if (chars > longestTextChars)
      throw invalidField(place, `The texts of a result may have ${longestTextChars} characters.`, "too_long");
    return { call, content: parts, isError };
  });
}
