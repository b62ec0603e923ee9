/** A code block of a guide that is a part of an example. */
export type ExampleBlock = { readonly file: string; readonly region: string | null; readonly code: string };

/** The blocks behind `<!-- example: FILE#REGION -->`; FILE is below `examples`, and without a region the whole of it is meant. */
export function exampleBlocks(markdown: string): readonly ExampleBlock[] {
  const pattern = /<!-- example: ([^\s#]+)(?:#(\S+))? -->\n+```[^\n]*\n([\s\S]*?)```/g;
  return [...markdown.matchAll(pattern)].map(([, file = "", region = null, code = ""]) => ({
    file,
    region,
    code,
  }));
}

/** The text between `region NAME` and `endregion NAME`, or all of it without the marks of regions; null when there is no such region. */
export function regionOf(source: string, region: string | null): string | null {
  const isMark = /^\s*(?:\/\/|#) (?:end)?region \S+$/;
  const lines = source.split("\n");
  if (region === null) return trimmed(lines.filter((line) => !isMark.test(line)));
  const start = lines.findIndex((line) => new RegExp(`^\\s*(?://|#) region ${region}$`).test(line));
  const end = lines.findIndex((line) => new RegExp(`^\\s*(?://|#) endregion ${region}$`).test(line));
  if (start === -1 || end < start) return null;
  return trimmed(lines.slice(start + 1, end).filter((line) => !isMark.test(line)));
}

function trimmed(lines: readonly string[]): string {
  return `${lines.join("\n").trim()}\n`;
}
