/**
 * Where the text of an event is: null without text, a number for the span of the JSON that holds it as a string literal
 * (so that it is not stored twice), or the literal itself.
 */
export type TextPlace = number | string | null;

const spanUnit = 2 ** 26;

export function placeText(text: string | null, json: string): TextPlace {
  if (text === null) return null;
  const literal = JSON.stringify(text);
  const start = json.indexOf(literal);
  if (start === -1 || start >= spanUnit || literal.length >= spanUnit) return literal;
  return start * spanUnit + literal.length;
}

export function readText(place: TextPlace, json: string): string | null {
  if (place === null) return null;
  if (typeof place === "string") return parseLiteral(place);
  const start = Math.floor(place / spanUnit);
  return parseLiteral(json.slice(start, start + (place % spanUnit)));
}

function parseLiteral(literal: string): string {
  return literal.includes("\\") ? String(JSON.parse(literal)) : literal.slice(1, -1);
}
