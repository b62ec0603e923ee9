const hidden = /[\u202A-\u202E\u2066-\u2069\u200B-\u200F\u2060\uFEFF\u061C]/g;

/**
 * Text in which characters that turn or hide what stands around them are drawn as their numbers. For commands and paths that
 * somebody allows: what is shown must be what will run.
 */
export function visibleText(text: string): string {
  return text.replaceAll(
    hidden,
    (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}
