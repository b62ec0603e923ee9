const hidden = /[\u202A-\u202E\u2066-\u2069\u200B-\u200F\u2060\uFEFF\u061C]/g;

/**
 * Replaces characters that reorder or hide text (such as bidi controls) by their code points. For commands and paths
 * that need approval: what is shown must be what runs.
 */
export function visibleText(text: string): string {
  return text.replaceAll(
    hidden,
    (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}
