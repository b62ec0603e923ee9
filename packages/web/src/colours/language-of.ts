/** Supported languages, by the names that files and code blocks use. */
const names = {
  bash: ["bash", "sh", "shell", "zsh", "console"],
  cpp: ["cpp", "c", "h", "hpp", "cc", "cxx", "c++"],
  css: ["css"],
  diff: ["diff", "patch"],
  go: ["go", "golang"],
  java: ["java"],
  javascript: ["javascript", "js", "jsx", "mjs", "cjs"],
  json: ["json", "jsonc", "json5", "jsonl"],
  python: ["python", "py", "pyi"],
  rust: ["rust", "rs"],
  sql: ["sql"],
  typescript: ["typescript", "ts", "tsx", "mts", "cts"],
  xml: ["xml", "html", "htm", "svg", "vue", "xhtml"],
  yaml: ["yaml", "yml"],
} as const;

export type Language = keyof typeof names;

const byName: ReadonlyMap<string, Language> = new Map<string, Language>(
  Object.entries(names).flatMap(([language, all]) =>
    all.map((name) => [name, language as Language] as const),
  ),
);

/** The language of a code block; null if it is not supported. */
export function languageOf(name: string): Language | null {
  return (
    byName.get(
      name
        .trim()
        .split(/[\s{:,]/, 1)[0]!
        .toLowerCase(),
    ) ?? null
  );
}

/** The language name of a file by its extension, for {@link languageOf}; empty if unknown. */
export function endingOf(path: string): string {
  const file = path.slice(path.lastIndexOf("/") + 1);
  return file.includes(".") ? file.slice(file.lastIndexOf(".") + 1) : "";
}
