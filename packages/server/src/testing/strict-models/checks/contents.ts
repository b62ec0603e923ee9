import type { Check, Complaint } from "../strict-provider.ts";
import type { ReadMessage, ReadText } from "../readings/reading.ts";

/** No text is blank. `roles` narrows it to messages of these. */
export function noBlankTexts(
  complain: (message: ReadMessage, text: ReadText) => Complaint,
  options: { readonly roles?: readonly string[]; readonly allowsSpace?: boolean } = {},
): Check {
  return (_request, { messages }) => {
    for (const message of messages) {
      if (options.roles !== undefined && !options.roles.includes(message.role)) continue;
      const text = message.texts.find((one) =>
        options.allowsSpace === true ? one.text === "" : one.text.trim() === "",
      );
      if (text !== undefined) return complain(message, text);
    }
    return null;
  };
}

/** Every message of these roles says, shows, calls or answers something. */
export function noEmptyMessages(
  complain: (message: ReadMessage) => Complaint,
  roles: readonly string[] = ["user", "assistant"],
): Check {
  return (_request, { messages }) => {
    const empty = messages.find(
      (message) =>
        roles.includes(message.role) &&
        message.texts.every(({ text }) => text === "") &&
        message.images === 0 &&
        message.calls.length === 0 &&
        message.results.length === 0,
    );
    return empty === undefined ? null : complain(empty);
  };
}

/** The content of every message is a text or a list; of an assistant that calls it may be null. */
export function contentIsThere(complain: (message: ReadMessage) => Complaint): Check {
  return (_request, { messages }) => {
    const wrong = messages.find(({ raw, calls }) => {
      const content = raw["content"] ?? null;
      return content === null ? calls.length === 0 : typeof content !== "string" && !Array.isArray(content);
    });
    return wrong === undefined ? null : complain(wrong);
  };
}

export function noImages(complain: (message: ReadMessage) => Complaint): Check {
  return (_request, { messages }) => {
    const seen = messages.find(({ images }) => images > 0);
    return seen === undefined ? null : complain(seen);
  };
}
