/**
 * A ripgrep pattern that also finds names in which its brackets, braces and backslashes are literal, such as `app/[id]/page.tsx`, or
 * names with another kind of blank or differently composed accents. Brackets and braces that form no class or alternatives are only
 * literal; `*`, `?` and a leading `!` keep their meaning.
 */
export function widenGlob(pattern: string): string {
  const sign = pattern.startsWith("!") ? "!" : "";
  const body = pattern.slice(sign.length);
  const forms = [...new Set([body.normalize("NFC"), body.normalize("NFD")])].map(widen);
  const widened = forms.length === 1 ? forms[0]! : `{${forms.join(",")}}`;
  // ripgrep would treat the first as a comment and skip the second.
  const begun = widened.startsWith("#") ? `[#]${widened.slice(1)}` : widened;
  return sign + begun.replace(/\s$/u, (blank) => `{${blank}}`);
}

/** Whether a pattern has characters that may also be literal. */
export function hasGroups(pattern: string): boolean {
  return /[[{\\]/u.test(pattern);
}

/** The pattern that finds exactly this name. */
export function escapeGlob(name: string): string {
  return name.replace(/[\\[\]{},*?!#]/gu, String.raw`\$&`).replace(/\s$/u, (blank) => `{${blank}}`);
}

/** Any kind of blank, as in the names of screenshots; a ripgrep class can only contain ASCII. */
const blanks = `{${Array.from(" \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000").join(",")}}`;

function widen(pattern: string): string {
  let widened = "";
  for (let at = 0; at < pattern.length;) {
    const group = groupAt(pattern, at);
    widened += group.glob;
    at = group.end;
  }
  return widened;
}

type Group = { readonly glob: string; readonly end: number };

function groupAt(pattern: string, at: number): Group {
  const character = pattern[at]!;
  const end = endOf(pattern, at);
  const text = pattern.slice(at, end);
  switch (character) {
    case "\\":
      return { glob: text.length < 2 ? "\\\\" : `{${text},\\\\${text}}`, end };
    case "[":
      return end > at + 1 && isClass(text)
        ? { glob: `{${text},${literal(text)}}`, end }
        : { glob: "\\[", end: at + 1 };
    case "{":
      return end > at + 1
        ? { glob: `{{${alternatives(text).map(widen).join(",")}},${literal(text)}}`, end }
        : { glob: "\\{", end: at + 1 };
    case " ":
      return { glob: blanks, end };
    case "}":
      return { glob: "\\}", end };
    default:
      return { glob: character, end };
  }
}

/** End of the token at `at`: an escape, a class, alternatives, or a single character. */
function endOf(pattern: string, at: number): number {
  if (pattern[at] === "\\") return Math.min(at + 2, pattern.length);
  if (pattern[at] === "[") {
    // A bracket right after the opening one, or after its negation, belongs to the class.
    const from = at + 1 + (/^[!^]?\]?/u.exec(pattern.slice(at + 1))?.[0].length ?? 0);
    const close = pattern.indexOf("]", from);
    return close === -1 ? at + 1 : close + 1;
  }
  if (pattern[at] !== "{") return at + 1;
  for (let inside = at + 1; inside < pattern.length; inside = endOf(pattern, inside))
    if (pattern[inside] === "}") return inside + 1;
  return at + 1;
}

/** True when no range of the class is reversed. */
function isClass(text: string): boolean {
  const ranges = text.slice(1, -1).matchAll(/([^])-([^])/gu);
  return !text.includes("/") && [...ranges].every(([, first = "", last = ""]) => first <= last);
}

function alternatives(text: string): string[] {
  const inner = text.slice(1, -1);
  const parts = [""];
  for (let at = 0; at < inner.length;) {
    const end = endOf(inner, at);
    if (inner[at] === ",") parts.push("");
    else parts.push(parts.pop()! + inner.slice(at, end));
    at = end;
  }
  return parts;
}

/** The literal text, with its wildcards. */
function literal(text: string): string {
  return text.replace(/[\\[\]{},]/gu, String.raw`\$&`);
}
