import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserObservation } from "@convoke/protocol";
import { clipText, shortNotice, textLimits } from "../../text/truncate.ts";
import { textPart } from "../observation-content.ts";

/** The answer of an action: plain text, or JSON if `form` says so; only a state accepts additional fields. */
export type Answer = {
  readonly text: string;
  readonly form?: "state" | "data";
  readonly isError?: true;
  readonly picture?: Buffer;
};

/** The answer as a contract type, with notes. A screenshot is also stored in a file; JSON stays JSON. */
export async function observe(
  answer: Answer,
  notes: readonly string[],
  directory: string,
): Promise<BrowserObservation> {
  const { picture } = answer;
  const data = picture?.toString("base64") ?? null;
  const saved = data === null || picture === undefined ? null : await save(data, picture, directory);
  return {
    kind: "BrowserObservation",
    content: toTexts(answer, notes, saved)
      // A state has its own limits; cut in the middle it would not be JSON.
      .map((text) => (answer.form === "state" ? text : clipText(text, textLimits.toolMessage, shortNotice)))
      .map(textPart),
    is_error: answer.isError ?? false,
    screenshot_data: data,
    full_output_save_dir: directory,
  };
}

function toTexts({ text, form }: Answer, notes: readonly string[], saved: string | null): string[] {
  if (form === "state") {
    const fields = {
      ...(notes.length === 0 ? {} : { notes }),
      ...(saved === null ? {} : { screenshot_file: saved }),
    };
    const more = Object.entries(fields).map(
      ([name, value]) => `,\n  ${JSON.stringify(name)}: ${JSON.stringify(value)}`,
    );
    return [`${text.slice(0, -"\n}".length)}${more.join("")}\n}`];
  }
  const beside = [...notes, ...(saved === null ? [] : [`The screenshot is kept in ${saved}.`])];
  if (form === undefined) return [[text, ...beside].join("\n\n")];
  return beside.length === 0 ? [text] : [text, beside.join("\n\n")];
}

async function save(data: string, picture: Buffer, directory: string): Promise<string | null> {
  const name = `browser_screenshot_${createHash("sha256").update(data).digest("hex").slice(0, 8)}.png`;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(join(directory, name), picture, { mode: 0o600 });
    return join(directory, name);
  } catch {
    // A full disk only costs the copy; the model still gets the screenshot.
    return null;
  }
}
