import { createHash } from "node:crypto";
import path from "node:path";
import { build, type Rolldown } from "vite";
import { eventsElement, factsElement, tasksElement } from "../packages/web/src/log/replay-facts.ts";
import { slotNames, slots } from "../packages/web/src/log/replay-template.ts";

export type BuiltReplay = {
  /** The template of replay files: one HTML file with everything except a conversation. */
  readonly template: string;
  /** Absolute paths of everything that was bundled. */
  readonly sources: readonly string[];
};

/** Builds the page for replay files. Its content security policy allows only its own script and style, by hash, and no requests. */
export async function buildReplay(root: string): Promise<BuiltReplay> {
  const result = await build({
    configFile: path.join(root, "packages/web/vite.config.ts"),
    logLevel: "warn",
    build: {
      write: false,
      rolldownOptions: {
        input: path.join(root, "packages/web/replay.html"),
        output: { codeSplitting: false },
      },
    },
  });
  const { output } = (Array.isArray(result) ? result[0] : result) as Rolldown.RolldownOutput;
  const chunks = output.filter((item) => item.type === "chunk");
  const styles = output
    .filter((item) => item.type === "asset")
    .filter(({ fileName }) => fileName.endsWith(".css"));
  if (chunks.length !== 1 || styles.length !== 1)
    throw new Error(`a replay file has one script and one style, not ${chunks.length} and ${styles.length}`);
  // Neither text may close the element that contains it.
  const script = chunks[0]!.code
    .replaceAll("</script", String.raw`<\/script`)
    .replaceAll("<!--", String.raw`<\!--`);
  const style = String(styles[0]!.source);
  if (style.includes("</style")) throw new Error("the style would end its element");
  if (slotNames.some((slot) => script.includes(slot)))
    throw new Error("the script has the name of a slot in it");
  return {
    template: toTemplate(script, style),
    sources: chunks[0]!.moduleIds.filter((id) => path.isAbsolute(id)),
  };
}

function toTemplate(script: string, style: string): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
  return [
    "<!doctype html>",
    `<html lang="${slots.language}">`,
    "<head>",
    '<meta charset="utf-8" />',
    `<meta http-equiv="content-security-policy" content="${policy}" />`,
    '<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />',
    '<meta name="color-scheme" content="light dark" />',
    '<meta name="referrer" content="no-referrer" />',
    `<title>${slots.title}</title>`,
    `<style>${style}</style>`,
    "</head>",
    "<body>",
    '<div id="root"></div>',
    `<script type="application/json" id="${factsElement}">${slots.facts}</script>`,
    `<script type="application/x-ndjson" id="${eventsElement}">${slots.events}</script>`,
    `<script type="application/x-ndjson" id="${tasksElement}">${slots.tasks}</script>`,
    `<script type="module">${script}</script>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
