import type { SummaryFilter } from "./journal.ts";

/** What the JSON text of the tags has where it has this tag: a quote inside of a string is escaped, so that this can stand for a field only. */
export function tagText({ key, value }: NonNullable<SummaryFilter["tag"]>): string {
  return `${JSON.stringify(key)}:${value === null ? "" : JSON.stringify(value)}`;
}

/** A part of a title for `LIKE`, with `\` as the escape character. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}
