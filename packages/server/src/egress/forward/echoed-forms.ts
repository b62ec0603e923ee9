/**
 * How answers write a value besides its plain, URL-encoded and base64 forms: JSON of languages that escape more than they have to, JSON in
 * JSON, texts of HTML, and hexadecimal. Those that are the value itself are left out.
 */
export function echoedForms(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const unicode = (character: string): string =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const ascii = json.replaceAll(/[^\u0020-\u007e]/g, unicode);
  const bytes = Buffer.from(value).toString("hex");
  const forms = [
    json,
    ascii,
    // As PHP writes it, and as Go and others do for pages.
    json.replaceAll("/", String.raw`\/`),
    ascii.replaceAll("/", String.raw`\/`),
    json.replaceAll(/[<>&]/g, unicode),
    ascii.replaceAll(/[<>&]/g, unicode),
    ascii.replaceAll(/[<>&'+]/g, unicode),
    JSON.stringify(json).slice(1, -1),
    ...htmlForms(value),
    bytes,
    bytes.toUpperCase(),
  ];
  return [...new Set(forms)].filter((form) => form !== value);
}

/** With the quotes by name or by number, of which libraries write several. */
function htmlForms(value: string): string[] {
  const text = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const quotes = [
    ['"', '"'],
    ["&quot;", "'"],
    ["&quot;", "&#39;"],
    ["&quot;", "&#x27;"],
    ["&quot;", "&#039;"],
    ["&#34;", "&#39;"],
  ];
  const named = quotes.map(([double, single]) => text.replaceAll('"', double!).replaceAll("'", single!));
  const numbered = [10, 16].map((base) =>
    value.replaceAll(/[^\w.-]/gu, (character) => {
      const digits = character.codePointAt(0)!.toString(base);
      return base === 10 ? `&#${digits};` : `&#x${digits};`;
    }),
  );
  // Go writes a plus sign by its number too, and some libraries a slash.
  return [
    ...named,
    ...named.flatMap((one) => [one.replaceAll("+", "&#43;"), one.replaceAll("/", "&#x2F;")]),
    ...numbered,
  ];
}
