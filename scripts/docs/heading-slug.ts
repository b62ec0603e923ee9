/** The anchor of a heading as code hosts make it, so that a link works there and on the site. */
export function headingSlug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}
