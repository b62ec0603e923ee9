import { realpath, stat } from "node:fs/promises";
import { resolve, sep } from "node:path";
import type { BrowserTypeAction } from "@convoke/protocol";
import type { ElementHandle, Page } from "playwright-core";
import { ToolInputError, type ToolSecret } from "../../tool.ts";
import type { OpenBrowser } from "./open-browser.ts";
import { settle } from "./navigate.ts";
import type { Answer } from "./observe-browser.ts";
import { retryWhenBusy } from "./retry-when-busy.ts";

/** Longer texts are inserted at once, because typing them key by key takes too long. */
const keyedLength = 200;

/**
 * Puts text into a field, replacing its content: by keys where scripts may listen for them, by value for dates and colours, by choice
 * in a list, by path for files. `$NAME` of a conversation's secret is replaced by its value.
 */
export async function typeText(
  browser: OpenBrowser,
  page: Page,
  { index, text: given }: BrowserTypeAction,
  secrets: readonly ToolSecret[],
): Promise<Answer> {
  const element = await browser.elementsOf(page).find(index);
  const text = withSecrets(given, secrets);
  const field = await describeField(element);
  try {
    const result = await put(browser, page, element, field, text, index);
    await settle(page);
    return { text: result };
  } catch (error) {
    if (error instanceof ToolInputError) throw error;
    // Playwright's message may contain the text, and that may be a secret.
    const reason = refusalOf(String(error instanceof Error ? error.message : error), field);
    return { text: `Element ${index} did not take the text: ${reason}.`, isError: true };
  }
}

type Field = { readonly tag: string; readonly type: string; readonly isEditable: boolean };

async function describeField(element: ElementHandle<Element>): Promise<Field> {
  return await element.evaluate((node) => ({
    tag: node.tagName.toLowerCase(),
    type: node instanceof HTMLInputElement ? node.type : "",
    isEditable: node instanceof HTMLElement && node.isContentEditable,
  }));
}

const byValue = new Set(["date", "time", "datetime-local", "month", "week", "color", "range"]);
const byClick = new Set(["checkbox", "radio", "button", "submit", "reset", "image"]);

async function put(
  { workspaceDir }: OpenBrowser,
  page: Page,
  element: ElementHandle<Element>,
  { tag, type, isEditable }: Field,
  text: string,
  index: number,
): Promise<string> {
  if (tag === "select") return await choose(element, text, index);
  if (tag === "input" && type === "file") {
    const paths = await checkFiles(text, workspaceDir);
    await retryWhenBusy((timeout) => element.setInputFiles(paths, { timeout }));
    return `Gave element ${index} ${paths.length === 1 ? "the file" : `${paths.length} files:`} ${paths.join(", ")}.`;
  }
  if (byClick.has(type))
    throw new ToolInputError(`Element ${index} takes no text (${type}). Use browser_click.`);
  if (byValue.has(type)) {
    await retryWhenBusy((timeout) => element.fill(text.trim(), { timeout }));
    const taken = await element.inputValue();
    if (taken !== text.trim().toLowerCase() && taken !== text.trim())
      throw new ToolInputError(
        `Element ${index} (${type}) did not take this value: ${forms[type] ?? "it is out of its range"}.`,
      );
    return `Set element ${index} (${type}).`;
  }
  if (tag === "a" || tag === "button")
    throw new ToolInputError(`Element ${index} takes no text. Use browser_click.`);
  if (!isEditable && tag !== "input" && tag !== "textarea") {
    await retryWhenBusy((timeout) => element.click({ timeout }));
    await page.keyboard.insertText(text);
    return `Clicked element ${index}, which is no field, and typed ${text.length} characters.`;
  }
  await retryWhenBusy((timeout) => element.fill("", { timeout }));
  await element.focus();
  if (text.length <= keyedLength && !text.includes("\n")) await page.keyboard.type(text);
  else await page.keyboard.insertText(text);
  return `Typed ${text.length} characters into element ${index}, in place of what was there.`;
}

/** Matches the text of an option, then its value, ignoring case. */
async function choose(element: ElementHandle<Element>, text: string, index: number): Promise<string> {
  const options = await element.evaluate((node) =>
    [...(node as HTMLSelectElement).options].map((option) => ({
      text: option.text.trim(),
      value: option.value,
      isDisabled: option.disabled,
    })),
  );
  const wanted = text.trim().toLowerCase();
  const chosen =
    options.find((option) => option.text.toLowerCase() === wanted) ??
    options.find((option) => option.value.toLowerCase() === wanted);
  if (chosen === undefined || chosen.isDisabled) {
    const known = options
      .map((option) => option.text)
      .slice(0, 50)
      .join(", ");
    throw new ToolInputError(
      `Element ${index} has no option of this text that can be chosen. Its options: ${known}.`,
    );
  }
  const { value } = chosen;
  await retryWhenBusy((timeout) => element.selectOption({ value }, { timeout }));
  return `Chose "${chosen.text}" in element ${index}.`;
}

/** Only files of the workspace may be uploaded. One path per line. */
async function checkFiles(text: string, workspaceDir: string): Promise<string[]> {
  const root = await realpath(workspaceDir);
  const given = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  if (given.length === 0) throw new ToolInputError("Invalid parameter text: it names no file.");
  return await Promise.all(
    given.map(async (path) => {
      const found = await realpath(resolve(workspaceDir, path)).catch(() => null);
      if (found === null || !(await stat(found)).isFile())
        throw new ToolInputError(
          `Invalid parameter text: ${path} is no file. A field for files takes paths of the workspace, one a line.`,
        );
      if (!found.startsWith(`${root}${sep}`))
        throw new ToolInputError(
          `Invalid parameter text: ${path} is outside of the workspace, and only its files may be given to pages.`,
        );
      return found;
    }),
  );
}

function withSecrets(text: string, secrets: readonly ToolSecret[]): string {
  return text.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (whole, braced: string | undefined, plain: string | undefined) => {
      const secret = secrets.find(({ name }) => name === (braced ?? plain));
      return secret?.value ?? whole;
    },
  );
}

const forms: Readonly<Record<string, string>> = {
  date: "a date is written 2026-01-31",
  time: "a time is written 14:05",
  "datetime-local": "date and time are written 2026-01-31T14:05",
  month: "a month is written 2026-01",
  week: "a week is written 2026-W05",
  color: "a colour is written #1a2b3c",
};

function refusalOf(message: string, { type }: Field): string {
  if (/malformed/i.test(message)) return forms[type] ?? "its form is wrong";
  if (/not enabled|disabled/i.test(message)) return "it is disabled";
  if (/not editable|readonly/i.test(message)) return "it may only be read";
  if (/not visible/i.test(message)) return "it is not visible; read the state again with browser_get_state";
  if (/not attached|detached/i.test(message))
    return "it went away; read the state again with browser_get_state";
  return `it is of type ${type || "text"} and takes no text`;
}
