import type { ToolSecret } from "../../tool.ts";
import { secretForms, type SecretForm } from "../secret-forms.ts";
import { hiddenMark } from "../mask.ts";

/** Reference implementation of {@link maskText}: place by place and form by form, slow and obviously correct. */
export function maskNaively(
  text: string,
  secrets: readonly ToolSecret[],
  spared: readonly string[] = [],
): string {
  const forms = secretForms(secrets);
  const texts = spared
    .filter((item) => forms.some((form) => item.includes(form.text)))
    .sort((a, b) => b.length - a.length);
  let masked = "";
  for (let at = 0; at < text.length;) {
    const sparedText = texts.find((item) => text.startsWith(item, at));
    if (sparedText !== undefined && !reachesOut(text, at, at + sparedText.length, forms)) {
      masked += sparedText;
      at += sparedText.length;
      continue;
    }
    const form = forms.find((item) => isAt(text, at, item));
    masked += form === undefined ? text.charAt(at) : hiddenMark;
    at += form?.text.length ?? 1;
  }
  return masked;
}

function reachesOut(text: string, start: number, end: number, forms: readonly SecretForm[]): boolean {
  for (let at = start; at < end; at += 1)
    if (forms.some((form) => at + form.text.length > end && isAt(text, at, form))) return true;
  return false;
}

function isAt(text: string, at: number, { text: form, bounds }: SecretForm): boolean {
  if (!text.startsWith(form, at)) return false;
  if (bounds === "none") return true;
  const before = text.slice(Math.max(0, at - 6), at);
  const after = text.slice(at + form.length, at + form.length + 3);
  const isEscape = /\\(?:[nrtbf]|u[\da-f]{4})$/i.test(before);
  const touches = bounds === "token" ? /[\p{L}\p{N}]$/u : /[\p{L}\p{N}/_.-]$/u;
  if (touches.test(before) && !isEscape) return false;
  return !(bounds === "token" ? /^[\p{L}\p{N}]/u : /^(?:[\p{L}\p{N}/_-]|\.[\p{L}\p{N}])/u).test(after);
}
