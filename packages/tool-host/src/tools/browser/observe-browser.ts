import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserObservation } from "@convoke/protocol";
import { clipText, shortNotice, textLimits } from "../../text/truncate.ts";
import { textPart } from "../observation-content.ts";

/** What an action answers: words, unless `form` says that the text is JSON, a state being an object that takes further fields. */
export type Answer = {
  readonly text: string;
  readonly form?: "state" | "data";
  readonly isError?: true;
  readonly picture?: Buffer;
};

/** The answer as the contract types it, with what else is told. A picture is kept in a file too; JSON stays JSON. */
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
      // A state has limits of its own; cut in the middle it would not be JSON.
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
    // A disk that is full costs the copy; the model sees the picture all the same.
    return null;
  }
}
