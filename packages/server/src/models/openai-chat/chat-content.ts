import { objectsIn, textIn } from "../answer-values.ts";

type ContentPart = { readonly type?: string; readonly text?: unknown; readonly thinking?: unknown };

/** Content is a string, or parts where a provider mixes text and thinking (Mistral). */
export function plainTextOf(content: unknown): string {
  if (typeof content !== "object" || content === null) return textIn(content);
  const isText = ({ type = "text" }: ContentPart): boolean => type === "text" || type === "output_text";
  const parts = Array.isArray(content) ? (content as unknown[]) : [content];
  return parts
    .map((part) =>
      typeof part === "string"
        ? part
        : objectsIn<ContentPart>(part)
            .filter(isText)
            .map(({ text }) => textIn(text))
            .join(""),
    )
    .join("");
}

export function thinkingOf(content: unknown): string {
  const thoughts = objectsIn<ContentPart>(content).filter((part) => part.type === "thinking");
  return thoughts
    .map(({ thinking }) => (typeof thinking === "string" ? thinking : plainTextOf(thinking)))
    .join("");
}
